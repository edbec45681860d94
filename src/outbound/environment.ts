import { z } from 'zod';
import { parseJsonOrUndefined } from '../json.js';

const example = '{"memory": ["npx", "-y", "@modelcontextprotocol/server-memory"]}';

/** Maps names to complete command lines, because an argument can make a command run anything. */
const stdioCommands = z
  .string()
  .transform(parseJsonOrUndefined)
  .pipe(
    z.record(
      z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/),
      z.array(z.string().max(4000)).min(1).max(100),
      `must be a JSON object of command lines, such as ${example}`,
    ),
  );

export const outboundVariables = { MCP_STDIO_COMMANDS: stdioCommands.default({}) };
