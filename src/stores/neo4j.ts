import neo4j, { type Config } from 'neo4j-driver';
import { createBookmarks } from './bookmarks.js';
import { createTurns, shareOf } from '../base/turns.js';

export type Graph = ReturnType<typeof createGraph>;

/** The maximum number of concurrent queries per project and process. Writes of a project always run one at a time. */
const maxConcurrentReads = 4;
const readConnections = 100;
const writeConnections = 50;
/** The connections for reads and writes without a turn: pings, sweeps over all projects. */
const reserved = 10;

const common: Config = {
  connectionTimeout: 2000,
  connectionAcquisitionTimeout: 2000,
  disableLosslessIntegers: true,
  telemetryDisabled: true,
  userAgent: 'governed-context-service',
};

/**
 * Connects with the first query. A query waits at most two seconds for a connection. Transactions are retried for as
 * long as an election may take. The URI scheme sets routing and encryption: `bolt` for one server, `neo4j` for a
 * cluster, each with `+s` for TLS.
 */
export function createGraph(options: { uri: string; user: string; password: string; embeds?: boolean }) {
  const open = (config: Config) =>
    neo4j.driver(options.uri, neo4j.auth.basic(options.user, options.password), { ...common, ...config });
  const driver = open({ maxConnectionPoolSize: readConnections, maxTransactionRetryTime: 8000 });
  const exact = open({
    maxConnectionPoolSize: readConnections,
    maxTransactionRetryTime: 8000,
    disableLosslessIntegers: false,
  });
  const writer = open({ maxConnectionPoolSize: writeConnections, maxTransactionRetryTime: 15_000 });
  return {
    /** Runs reads. */
    driver,
    /** Runs the queries of callers, and keeps integers that JavaScript cannot express. */
    exact,
    /** Runs writes on separate connections: writers that wait for a lock do not block reads. */
    writer,
    reads: createTurns({ what: 'queries', maxRunning: maxConcurrentReads, maxWaiting: 100, waitTimeoutMs: 20_000 }),
    /** Organizations share the connections for reads. */
    readsOfOrganizations: createTurns({
      ...{ what: 'queries', whose: 'the organization', maxWaiting: 400, waitTimeoutMs: 20_000 },
      ...{ maxRunning: shareOf(readConnections - reserved), maxTotal: readConnections - reserved },
    }),
    writes: createTurns({
      ...{ what: 'writes to its graph', maxRunning: 1, maxWaiting: 200, waitTimeoutMs: 60_000 },
      maxTotal: writeConnections - reserved,
    }),
    /** Makes the reads of a project wait for its own writes, because cluster members may lag. */
    bookmarks: options.uri.startsWith('neo4j') ? createBookmarks() : undefined,
    /** Whether writes record what the worker has to embed. */
    embeds: options.embeds ?? false,
    async ping(): Promise<void> {
      await driver.verifyConnectivity();
    },
    async close(): Promise<void> {
      await Promise.all([driver.close(), exact.close(), writer.close()]);
    },
  };
}
