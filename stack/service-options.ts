import path from 'node:path';
import type { Preparation } from './binary-cache.js';
import { choosePorts } from './ports.js';
import type { ServerSpecification, ServiceName } from './service.js';

export interface ServiceOptions {
  /** The stack's data folder; each server has its own folder in it, and its log in `logs`. */
  dataDir: string;
  env?: NodeJS.ProcessEnv | undefined;
  log?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  ports?: Partial<Ports> | undefined;
  onStart?: ServerSpecification['onStart'];
}

export const portNames = ['temporal', 'temporalUi', 'mongodb', 'neo4j'] as const;
export type Ports = Record<(typeof portNames)[number], number>;

/** The same with every default filled in, for one service. */
export interface LaunchPlan extends Preparation {
  name: ServiceName;
  folder: string;
  logFile: string;
  ports: Ports;
  onStart: ServerSpecification['onStart'];
}

export async function planFor(name: ServiceName, options: ServiceOptions): Promise<LaunchPlan> {
  const { env = process.env, log = () => undefined, signal, onStart } = options;
  const dataDir = path.resolve(options.dataDir);
  const logFile = path.join(dataDir, 'logs', `${name}.log`);
  const given = options.ports ?? {};
  const missing = portNames.filter((port) => given[port] === undefined);
  const ports = { ...(await choosePorts(missing, {})), ...given };
  return { name, env, log, signal, onStart, ports, logFile, folder: path.join(dataDir, name) };
}
