import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { pinoHttp } from 'pino-http';
import type { Deps } from '../../deps.js';
import { AppError } from '../../errors.js';
import { errorHandler } from '../../http/errors.js';
import { createDeliveries } from '../deliveries.js';
import { createReceive } from '../receive.js';
import { downstreamReceivers } from './receivers.js';
import { createConnectorSignaller } from './signal-connector.js';

export interface DownstreamListener {
  /** Where the receivers of this process forward to. */
  url(): string;
  close(): Promise<void>;
}

/**
 * Listens on the internal port (contract, Downstream). A port that another process of this machine has is no fault: the
 * receivers forward to whoever listens there.
 */
export async function startDownstream(deps: Deps): Promise<DownstreamListener> {
  const { config, log } = deps;
  const { downstreamHost, downstreamUrl } = config.callbacks;
  const server = createServer(createDownstreamApp(deps));
  // Longer than the senders keep an idle connection, so that none meets one that is being closed.
  server.keepAliveTimeout = 65_000;
  const bound = await listen(server, config.downstreamPort, downstreamHost);
  if (bound === undefined) log.warn({ port: config.downstreamPort }, 'the downstream port is taken: callbacks are forwarded to who has it');
  else log.info({ port: bound }, 'downstream listening');
  const url = downstreamUrl ?? `http://${reachable(downstreamHost)}:${bound ?? config.downstreamPort}`;
  return {
    url: () => url,
    close: () =>
      new Promise((resolve) => {
        if (!server.listening) return resolve();
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

function createDownstreamApp({ config, log, mongo, temporal, blobs }: Deps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(pinoHttp({ logger: log, autoLogging: false }));
  const deliveries = createDeliveries(mongo.collections);
  const signal = createConnectorSignaller({ temporal, deliveries, blobs });
  const receivers = downstreamReceivers({ collections: mongo.collections, signal });
  app.use(createReceive({ receivers, deliveries, bodyLimit: config.callbacks.bodyLimit }));
  app.use(() => {
    throw new AppError('not_found', 'no such path');
  });
  app.use(errorHandler);
  return app;
}

/** The port that was bound; undefined where it is taken. */
function listen(server: Server, port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
