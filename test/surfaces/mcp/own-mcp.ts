import { afterAll } from '@jest/globals';
import { createServer } from 'node:http';
import express from 'express';
import type { Config } from '../../../src/config.js';
import type { Deps } from '../../../src/domain/deps.js';
import { createMcp, type Mcp, type McpLimits } from '../../../src/surfaces/mcp/create-mcp.js';
import { errorHandler } from '../../../src/surfaces/rest/error-answers.js';
import { requestLog } from '../../../src/http/request-log.js';
import { traced } from '../../../src/http/trace.js';
import { listen } from '../../support/ports.js';

export interface OwnMcp extends Mcp {
  url: string;
  stopping: AbortController;
}

type ServeMcp = (limits: Partial<McpLimits>, environment?: Config['environment']) => Promise<OwnMcp>;

/** MCP in this process, mounted as the product mounts it, with limits that a test sets. Closed after the file. */
export function useOwnMcp(shared: Deps): ServeMcp {
  const closing: (() => Promise<void>)[] = [];
  afterAll(async () => {
    await Promise.all(closing.map((close) => close()));
  });
  return async (limits, environment = shared.config.environment) => {
    const deps = { ...shared, config: { ...shared.config, environment }, stopping: new AbortController() };
    let url = '';
    const baseUrl = () => url;
    const mcp = createMcp(deps, { baseUrl, version: '0', limits });
    const app = express();
    app.use(requestLog(deps.log), traced(deps.tracing), mcp.router, errorHandler);
    const server = await listen(createServer(app));
    url = server.url;
    closing.push(() => {
      deps.stopping.abort();
      return server.close();
    });
    return { ...mcp, url, stopping: deps.stopping };
  };
}
