import { z } from 'zod';
import { defineRoute, type Route } from '../http/define-route.js';
import { workspaceHeader } from './rest.js';

const ConnectionInfo = z
  .object({
    mcpServerUrl: z.url(),
    mcpSseUrl: z.url(),
    apiBaseUrl: z.url(),
    workspaceHeader: z.string(),
    sdk: z.object({
      python: z.object({ package: z.string(), install: z.string() }),
      node: z.object({ package: z.string(), install: z.string() }),
    }),
  })
  .meta({ id: 'ConnectionInfo' });

/** Where a client connects; no secrets, no credential (specification, Connection info). */
export function connectionInfoRoutes(baseUrl: () => string): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/connection-info',
      permission: 'public',
      tag: 'connection',
      summary: 'Where and how to connect',
      response: { schema: ConnectionInfo, description: 'Addresses, the workspace header and the SDK packages.' },
      handler: async () => ({
        mcpServerUrl: `${baseUrl()}/mcp`,
        mcpSseUrl: `${baseUrl()}/sse`,
        apiBaseUrl: `${baseUrl()}/v1`,
        workspaceHeader,
        sdk: {
          python: { package: 'governed-context-service', install: 'pip install governed-context-service' },
          node: { package: '@governed-context/service', install: 'npm install @governed-context/service' },
        },
      }),
    }),
  ];
}
