import { z } from 'zod';
import type { Deps } from '../deps.js';
import { AppError } from '../errors.js';
import { defineRoute, type Route } from '../http/define-route.js';

/** `preparing` until indexes and seed are in place, `draining` once the process was asked to stop. */
export type Condition = 'preparing' | 'serving' | 'draining';

const Dependency = z.enum(['up', 'down']);
const Readiness = z
  .object({
    status: z.enum(['ready', 'not_ready', 'draining']),
    dependencies: z.object({ temporal: Dependency, mongodb: Dependency, neo4j: Dependency }),
  })
  .meta({ id: 'Readiness' });

/** Liveness says that the process answers; readiness asks each dependency (contract, operation). */
export function healthRoutes(deps: Pick<Deps, 'temporal' | 'mongo' | 'graph'>, condition: () => Condition): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/healthz',
      permission: 'public',
      tag: 'operation',
      summary: 'Liveness',
      response: { schema: z.object({ status: z.literal('ok') }), description: 'The process answers.' },
      handler: async () => ({ status: 'ok' }),
    }),
    defineRoute({
      method: 'get',
      path: '/readyz',
      permission: 'public',
      tag: 'operation',
      summary: 'Readiness, by dependency',
      response: { schema: Readiness, description: 'Every dependency answers.', others: { 503: { description: 'One does not answer, or the process is starting or ending.', schema: Readiness } } },
      handler: async ({ ctx }) => {
        const [temporal, mongodb, neo4j] = await Promise.all([
          state(deps.temporal.ping()),
          state(deps.mongo.ping()),
          state(deps.graph.ping()),
        ]);
        const allUp = [temporal, mongodb, neo4j].every((dependency) => dependency === 'up');
        const status = condition() === 'draining' ? 'draining' : allUp && condition() === 'serving' ? 'ready' : 'not_ready';
        const body = { status, dependencies: { temporal, mongodb, neo4j } };
        if (status === 'ready') return body;
        ctx.res.status(503).json(body);
        return undefined;
      },
    }),
  ];
}

const probeMs = 3000;

async function state(probe: Promise<void>): Promise<'up' | 'down'> {
  const timeout = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new AppError('unavailable', 'no answer in time')), probeMs).unref();
  });
  return Promise.race([probe, timeout]).then(
    () => 'up',
    () => 'down',
  );
}
