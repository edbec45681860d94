import { chownSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { AppError } from '../../../base/errors.js';
import type { StdioCommand } from '../../../outbound/environment.js';
import type { McpTarget } from '../../../outbound/mcp-transport.js';
import { sha256Hex } from '../../../base/hash.js';

export interface StdioConfig {
  /** See `MCP_STDIO_COMMANDS`. */
  commands: Readonly<Record<string, StdioCommand>>;
  folder: string;
}

interface StdioUse {
  projectId: string;
  organizationId: string;
}

/**
 * The process of a command that the operator allows to this project. Each project has its own folder, which is also the
 * HOME of its processes, so that what a server stores stays in the project.
 * @throws AppError `unconfigured`
 */
export function stdioTarget({ commands, folder }: StdioConfig, name: string, use: StdioUse): McpTarget {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!entry)
    throw new AppError(
      'unconfigured',
      `the workers do not allow the command ${JSON.stringify(name)}: MCP_STDIO_COMMANDS does not list it`,
    );
  const { command, organizations, projects, user } = entry;
  const isAllowed = projects === '*' || projects.includes(use.projectId) || organizations.includes(use.organizationId);
  if (!isAllowed)
    throw new AppError(
      'unconfigured',
      `this project may not use the command ${JSON.stringify(name)}: its entry in MCP_STDIO_COMMANDS names neither the project nor its organization`,
    );
  const own = path.join(folder, sha256Hex(use.projectId).slice(0, 32), name);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  if (!user) return { commandLine: command, folder: own };
  if (process.getuid?.() !== 0)
    throw new AppError('unconfigured', `the command ${JSON.stringify(name)} has a user, but the worker is not root`);
  chownSync(own, user.uid, user.gid);
  const { uid, gid } = user;
  const asUser = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--'];
  return { commandLine: [...asUser, ...command], folder: own };
}
