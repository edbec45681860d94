import { z } from 'zod';
import { defineRoute, type Route } from '../rest/define-route.js';
import type { Metrics } from '../../observability/metrics.js';

/**
 * Serves the metrics without a credential, like health: labels contain no ids and no user input (contract, operation).
 */
export function metricsRoute({ registry }: Metrics): Route {
  return defineRoute({
    method: 'get',
    path: '/metrics',
    permission: 'public',
    tag: 'operation',
    summary: 'Metrics of this process, in the Prometheus text format',
    response: {
      schema: z.string().meta({ example: 'quota_decisions_total{result="admitted",scope="none"} 12\n' }),
      description: 'The metrics of this API process; each process reports its own.',
      stream: 'text/plain',
    },
    handler: async ({ ctx }) => {
      const text = await registry.metrics();
      // `send` would insert the charset before the version of the format.
      ctx.res.writeHead(200, { 'Content-Type': registry.contentType }).end(text);
    },
  });
}
