import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import { createApp } from '../../src/app.js';
import type { Deps } from '../../src/domain/deps.js';
import { apiClient } from './client.js';
import { useDeps, type Workspace } from './fixture.js';

export interface OwnApp {
  deps: Deps;
  url(): string;
  /** The workspace as seen through this API. */
  through(workspace: Workspace): Workspace;
}

/** The whole API in the test process with its own environment; two of them share as little as two processes. */
export function useOwnApp(overrides: Record<string, string> = {}): OwnApp {
  const deps = useDeps(overrides);
  const server = createServer();
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  beforeAll(async () => {
    server.on(
      'request',
      createApp(deps, { baseUrl: () => deps.config.baseUrl ?? url(), condition: () => 'serving', version: '0' }),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    deps.stopping.abort();
    server.closeAllConnections();
    server.close();
  });
  return {
    deps,
    url,
    through: (workspace) => ({ ...workspace, api: apiClient(url(), { 'x-api-key': workspace.apiKey }) }),
  };
}
