import { z } from 'zod';
import { parseJsonOrUndefined } from '../base/json.js';

const example = '{"files": {"command": ["/opt/mcp/files", "."], "projects": ["6f1c…"]}}';

const ids = z.array(z.string().min(1).max(200)).max(1000);
const userId = z.number().int().min(1);

/** A program that a worker may run as an MCP server. Nobody may use an entry that names no organization and no project. */
const StdioCommand = z.strictObject({
  command: z.array(z.string().max(4000)).min(1).max(100),
  organizations: ids.default([]),
  projects: z.union([z.literal('*'), ids]).default([]),
  /** The user and group of the process. Only root can change them. */
  user: z.strictObject({ uid: userId, gid: userId }).optional(),
});
export type StdioCommand = z.infer<typeof StdioCommand>;

/** Maps names to entries with complete command lines, because an argument can make a command run anything. */
const stdioCommands = z
  .string()
  .transform(parseJsonOrUndefined)
  .pipe(
    z.record(
      z.string().regex(/^(?!\.+$)[A-Za-z0-9_.-]{1,100}$/),
      StdioCommand,
      `must be a JSON object of names and entries, such as ${example}`,
    ),
  );

export const outboundVariables = {
  MCP_STDIO_COMMANDS: stdioCommands.default({}),
  MCP_STDIO_DIR: z.string().optional(),
};
