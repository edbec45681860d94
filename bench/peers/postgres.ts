import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runToEnd } from '../../stack/run-to-end.js';
import { runSupervised } from '../../stack/supervised-process.js';
import { untilItAnswers } from './engine.js';

/** The user and the group `nobody` of Linux. */
const nobody = 65534;

export interface Postgres {
  host: string;
  port: number;
  user: string;
  pid: number;
  /** Creates a database, and returns its address. */
  database(name: string): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL that is on the path, with the durability that it has by default. It refuses to run as root, so for root it
 * runs as `nobody`.
 */
export async function startPostgres(port: number, logFile: string): Promise<Postgres> {
  const isRoot = process.getuid?.() === 0;
  const folder = await mkdtemp(path.join(tmpdir(), 'service-peers-'));
  if (isRoot) await chown(folder, nobody, nobody);
  await mkdir(path.dirname(logFile), { recursive: true });
  const data = path.join(folder, 'data');
  const commandOf = (program: string, ...args: string[]) => ({
    ...(isRoot
      ? { command: 'setpriv', args: [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', program, ...args] }
      : { command: program, args }),
    env: { ...process.env, HOME: folder },
    cwd: folder,
    logFile,
  });
  await runToEnd(commandOf('initdb', '-D', data, '-U', 'postgres', '--auth=trust', '--no-locale', '-E', 'UTF8'));
  const server = runSupervised(
    commandOf('postgres', '-D', data, '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'),
  );
  const connection = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
  await untilItAnswers('PostgreSQL', server, () => runToEnd(commandOf('pg_isready', ...connection)));
  return {
    host: '127.0.0.1',
    port,
    user: 'postgres',
    pid: server.pid,
    async database(name) {
      await runToEnd(commandOf('createdb', ...connection, name));
      return `postgresql://postgres@127.0.0.1:${port}/${name}`;
    },
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
