import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import type { Deps } from '../../../domain/deps.js';
import { AppError } from '../../../base/errors.js';
import { errorHandler } from '../../rest/error-answers.js';
import { createExpressServer } from '../../../http/express-server.js';
import { requestLog } from '../../../http/request-log.js';
import { createDeliveries } from '../../../domain/connectors/deliveries.js';
import { createReadBody } from '../read-body.js';
import { createReceive } from '../receive.js';
import { downstreamReceivers } from './receivers.js';
import { createConnectorSignaller } from '../../../domain/connectors/signal-connector.js';

export interface DownstreamListener {
  /** The address to which the receivers of this process forward. */
  url(): string;
  port: number;
  close(): Promise<void>;
}

/**
 * Listens on the internal port (contract, Downstream). The receivers never forward to a port that another process holds,
 * because that process would get the callbacks of this one.
 * @throws Error if `DOWNSTREAM_PORT` is set and taken
 */
export async function startDownstream(deps: Deps): Promise<DownstreamListener> {
  const { config, log } = deps;
  const { downstreamHost, downstreamUrl, downstreamPortIsSet } = config.callbacks;
  const server = createExpressServer(createDownstreamApp(deps));
  // Longer than the senders keep idle connections, so that they never use one that is closing.
  server.keepAliveTimeout = 65_000;
  const port = await listen(server, config.downstreamPort, downstreamHost).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    const taken = `another process listens on the downstream port ${downstreamHost}:${config.downstreamPort}`;
    if (downstreamPortIsSet)
      throw new Error(`${taken}: set DOWNSTREAM_PORT to a free port, or to 0 for any free port`, { cause: error });
    log.warn(`${taken}: using another one`);
    return listen(server, 0, downstreamHost);
  });
  log.info({ port }, 'downstream listening');
  const url = downstreamUrl ?? `http://${reachable(downstreamHost)}:${port}`;
  return {
    url: () => url,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

function createDownstreamApp({ config, log, mongo, temporal, blobs, threads }: Deps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(requestLog(log, () => false));
  const deliveries = createDeliveries(mongo.collections);
  const signal = createConnectorSignaller({ temporal, deliveries, blobs });
  const { bodyLimit } = config.callbacks;
  const read = createReadBody(threads, bodyLimit);
  const receivers = downstreamReceivers({ collections: mongo.collections, read, signal });
  app.use(createReceive({ receivers, deliveries, bodyLimit }));
  app.use(() => {
    throw new AppError('not_found', 'no such path');
  });
  app.use(errorHandler);
  return app;
}

/** @returns the bound port */
async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
