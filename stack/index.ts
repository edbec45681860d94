import { openDataFolder } from './data-folder.js';
import { startMongodb } from './mongodb.js';
import { startNeo4j } from './neo4j.js';
import { choosePorts } from './ports.js';
import type { Service } from './service.js';
import { portNames, type Ports, type ServiceOptions } from './service-options.js';
import { startTemporal } from './temporal.js';

export type { Service } from './service.js';
export { StackError } from './stack-error.js';

export interface StackOptions {
  /** Holds the servers' data, their logs, and the ports that the next start prefers. */
  dataDir: string;
  log?: (line: string) => void;
  env?: NodeJS.ProcessEnv;
  /** Fixed ports; the others are the last start's when they are free, else any free ones. */
  ports?: Partial<Ports>;
  signal?: AbortSignal;
}

export interface Stack {
  /** What `src/config.ts` reads to reach the three servers. */
  environment: Record<string, string>;
  services: { temporal: Service; mongodb: Service; neo4j: Service };
  /** The Temporal command line, when there is one. */
  temporalCli?: string | undefined;
  stop(): Promise<void>;
}

/**
 * Finds, downloads or builds the three servers, and starts those that the environment does not name.
 * @throws StackError in one sentence that says what to do.
 */
export async function startStack({ dataDir, log, env, ports: fixed = {}, signal }: StackOptions): Promise<Stack> {
  const folder = await openDataFolder(dataDir);
  try {
    const ports = await choosePorts(portNames, { fixed, preferred: folder.ports });
    folder.rememberPorts(ports);
    const started = await startAll({ dataDir, log, env, ports, signal, onStart: folder.rememberServer });
    return stackOf(started, folder.release);
  } catch (error) {
    folder.release();
    throw error;
  }
}

type Started = Awaited<ReturnType<typeof startAll>>;

/** When one fails, the others' builds are abandoned and their servers stopped. */
async function startAll(options: ServiceOptions) {
  const failed = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal;
  const shared = { ...options, signal };
  const starting = [startTemporal(shared), startMongodb(shared), startNeo4j(shared)] as const;
  try {
    const [temporal, mongodb, neo4j] = await Promise.all(starting);
    return { temporal, mongodb, neo4j };
  } catch (error) {
    failed.abort();
    const outcomes = await Promise.allSettled(starting);
    const running = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    await Promise.all(running.map((outcome) => outcome.value.service.stop()));
    throw error;
  }
}

function stackOf({ temporal, mongodb, neo4j }: Started, release: () => void): Stack {
  const services = { temporal: temporal.service, mongodb: mongodb.service, neo4j: neo4j.service };
  return {
    environment: { ...temporal.environment, ...mongodb.environment, ...neo4j.environment },
    services,
    temporalCli: temporal.cli,
    async stop() {
      await Promise.all(Object.values(services).map((service) => service.stop()));
      release();
    },
  };
}
