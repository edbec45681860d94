import { z } from 'zod';
import { defineRoute, type Route } from '../rest/define-route.js';
import type { Config } from '../../config.js';
import { clientPackages } from '../../base/packages.js';
import { workspaceHeader } from '../../auth/resolve-scope.js';

const Package = z.object({
  package: z.string().meta({ example: 'governed-context-service' }),
  install: z.string().meta({ example: 'pip install governed-context-service' }),
});

const ConnectionInfo = z
  .object({
    mcpServerUrl: z.url().meta({ example: 'https://svc.acme.dev/mcp' }),
    mcpSseUrl: z.url().meta({ example: 'https://svc.acme.dev/sse' }),
    apiBaseUrl: z.url().meta({ example: 'https://svc.acme.dev/v1' }),
    workspaceHeader: z.string().meta({ example: workspaceHeader }),
    sdk: z.object({ python: Package, node: Package }),
  })
  .meta({ id: 'ConnectionInfo' });

/** Returns the URLs for clients, without secrets. No credential is required (specification, Connection info). */
export function connectionInfoRoutes(baseUrl: () => string, install: Config['clientInstall']): Route[] {
  const address = (file: string | undefined) => `${baseUrl()}/clients/${file ?? ''}`;
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
          python: {
            package: 'governed-context-service',
            install: install.python ?? `pip install ${address(clientPackages.python)}`,
          },
          node: {
            package: '@governed-context/service',
            install: install.node ?? `npm install ${address(clientPackages.node)}`,
          },
        },
      }),
    }),
  ];
}
