import neo4j, { type Driver } from 'neo4j-driver';

export interface Graph {
  driver: Driver;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The driver connects with the first query; no query waits longer than two seconds for a connection. */
export function createGraph(options: { uri: string; user: string; password: string }): Graph {
  const driver = neo4j.driver(options.uri, neo4j.auth.basic(options.user, options.password), {
    connectionTimeout: 2000,
    connectionAcquisitionTimeout: 2000,
    maxTransactionRetryTime: 2000,
    disableLosslessIntegers: true,
    telemetryDisabled: true,
    userAgent: 'governed-context-service',
  });
  return {
    driver,
    async ping() {
      await driver.verifyConnectivity();
    },
    close: () => driver.close(),
  };
}
