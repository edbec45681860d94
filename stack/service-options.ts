import path from 'node:path';
import type { Preparation } from './binary-cache.js';
import { choosePorts } from './ports.js';
import type { ServerSpecification, ServiceName } from './service.js';

export interface ServiceOptions {
  /** The data folder of the stack. Each server has its own subfolder, and its log is in `logs`. */
  dataDir: string;
  env?: NodeJS.ProcessEnv | undefined;
  log?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  ports?: Partial<Ports> | undefined;
  /** The endpoint that decodes payloads for the Temporal UI (src/surfaces/operation/codec-endpoint.ts). */
  codecEndpoint?: string | undefined;
  onStart?: ServerSpecification['onStart'];
  /** Additional settings of the Temporal server. */
  dynamicConfig?: Readonly<Record<string, string | number | boolean>> | undefined;
}

export const portNames = ['temporal', 'temporalUi', 'temporalHttp', 'temporalMetrics', 'mongodb', 'neo4j'] as const;
export type Ports = Record<(typeof portNames)[number], number>;

/** The options of one service with all defaults filled in. */
export interface LaunchPlan extends Preparation {
  name: ServiceName;
  folder: string;
  logFile: string;
  ports: Ports;
  codecEndpoint: string | undefined;
  onStart: ServerSpecification['onStart'];
}

export async function planFor(name: ServiceName, options: ServiceOptions): Promise<LaunchPlan> {
  const { env = process.env, log = () => undefined, signal, onStart, codecEndpoint } = options;
  const dataDir = path.resolve(options.dataDir);
  const logFile = path.join(dataDir, 'logs', `${name}.log`);
  const fixed = options.ports ?? {};
  const missing = portNames.filter((port) => fixed[port] === undefined);
  const ports = { ...(await choosePorts(missing, {})), ...fixed };
  return { name, env, log, signal, onStart, codecEndpoint, ports, logFile, folder: path.join(dataDir, name) };
}
