import { openDataFolder } from './data-folder.js';
import { startMongodb } from './mongodb.js';
import { startNeo4j } from './neo4j.js';
import { choosePorts } from './ports.js';
import type { Service } from './service.js';
import { portNames, type ServiceOptions } from './service-options.js';
import { startTemporal } from './temporal.js';

export type { Service } from './service.js';
export { StackError } from './stack-error.js';

/** For the ports that are not given, the stack prefers the ports of its last start if they are free. */
type StackOptions = Omit<ServiceOptions, 'onStart'>;

export interface Stack {
  /** The variables with which `src/config.ts` reaches the three servers. */
  environment: Record<string, string>;
  services: { temporal: Service; mongodb: Service; neo4j: Service };
  /** The path of the Temporal command line, if there is one. */
  temporalCli?: string | undefined;
  stop(): Promise<void>;
}

/**
 * Finds, downloads or builds the three servers, and starts those for which the environment names no server.
 * @throws StackError with one sentence that says what to do
 */
export async function startStack({ ports: fixed = {}, ...options }: StackOptions): Promise<Stack> {
  const folder = await openDataFolder(options.dataDir);
  try {
    const ports = await choosePorts(portNames, { fixed, preferred: folder.ports });
    folder.rememberPorts(ports);
    const started = await startAll({ ...options, ports, onStart: folder.rememberServer });
    return stackOf(started, folder.release);
  } catch (error) {
    folder.release();
    throw error;
  }
}

type Started = Awaited<ReturnType<typeof startAll>>;

/** If one server fails, cancels the other builds and stops the other servers. */
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
