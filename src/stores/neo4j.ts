import neo4j, { type Driver } from 'neo4j-driver';

export interface Graph {
  driver: Driver;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The driver connects with the first query; no query waits longer than two seconds for a connection. Encryption and routing
 * are the scheme's: `bolt` to one server, `neo4j` over a cluster, each with `+s` by TLS.
 */
export function createGraph(options: { uri: string; user: string; password: string }): Graph {
  const driver = neo4j.driver(options.uri, neo4j.auth.basic(options.user, options.password), {
    connectionTimeout: 2000,
    connectionAcquisitionTimeout: 2000,
    maxTransactionRetryTime: 2000,
    disableLosslessIntegers: true,
    telemetryDisabled: true,
    userAgent: 'governed-context-service',
  });
  if (options.uri.startsWith('neo4j')) readOwnWrites(driver);
  return {
    driver,
    async ping() {
      await driver.verifyConnectivity();
    },
    close: () => driver.close(),
  };
}

/** Members of a cluster may lag: every session asks for what the sessions of this process before it have written. */
function readOwnWrites(driver: Driver): void {
  const open = driver.session.bind(driver);
  const bookmarkManager = neo4j.bookmarkManager();
  driver.session = (options) => open({ ...options, bookmarkManager });
}
