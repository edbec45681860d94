import { createServer } from 'node:http';
import { afterAll, beforeAll } from '@jest/globals';
import { createApp } from '../../src/app.js';
import type { Deps } from '../../src/domain/deps.js';
import { apiClient } from './client.js';
import { useDeps, type Workspace } from './fixture.js';
import { listen, type Listening } from './ports.js';

interface OwnApp {
  deps: Deps;
  url(): string;
  /** The workspace as seen through this API. */
  through(workspace: Workspace): Workspace;
}

/** The whole API in the test process with its own environment; two of them share as little as two processes. */
export function useOwnApp(overrides: Record<string, string> = {}): OwnApp {
  const deps = useDeps(overrides);
  let server: Listening;
  const url = () => server.url;
  beforeAll(async () => {
    const baseUrl = () => deps.config.baseUrl ?? url();
    server = await listen(createServer(createApp(deps, { baseUrl, condition: () => 'serving', version: '0' })));
  });
  afterAll(() => {
    deps.stopping.abort();
    return server.close();
  });
  return {
    deps,
    url,
    through: (workspace) => ({ ...workspace, api: apiClient(url(), { 'x-api-key': workspace.apiKey }) }),
  };
}
