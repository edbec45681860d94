import { z } from 'zod';
import type { Deps } from '../../domain/deps.js';
import { AppError } from '../../base/errors.js';
import { defineRoute, type Route } from '../rest/define-route.js';
import { within } from '../../base/async.js';

/** `preparing` until the unique indexes and the initial data exist. `draining` after the process was asked to stop. */
export type Condition = 'preparing' | 'serving' | 'draining';

const Indexes = z.enum(['building', 'built']);
export type Indexes = z.infer<typeof Indexes>;

const Dependency = z.enum(['up', 'down']);
const Readiness = z
  .object({
    status: z.enum(['ready', 'not_ready', 'draining']),
    dependencies: z.object({ temporal: Dependency, mongodb: Dependency, neo4j: Dependency }),
    indexes: Indexes.describe(
      'The indexes that speed up lists. While they are being built, the service is ready but lists can be slow.',
    ),
  })
  .meta({ id: 'Readiness' });

/** Liveness: the process responds. Readiness: each dependency responds (contract, operation). */
export function healthRoutes(
  deps: Pick<Deps, 'temporal' | 'mongo' | 'graph'>,
  { condition, indexes = () => 'built' }: { condition(): Condition; indexes?(): Indexes },
): Route[] {
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
      response: {
        schema: Readiness,
        description: 'Every dependency answers.',
        others: {
          503: {
            description: 'A dependency does not answer, or the process is starting or stopping.',
            schema: Readiness,
          },
        },
      },
      handler: async ({ ctx }) => {
        const [temporal, mongodb, neo4j] = await Promise.all([
          state(deps.temporal.ping()),
          state(deps.mongo.ping()),
          state(deps.graph.ping()),
        ]);
        const allUp = [temporal, mongodb, neo4j].every((dependency) => dependency === 'up');
        const status =
          condition() === 'draining' ? 'draining' : allUp && condition() === 'serving' ? 'ready' : 'not_ready';
        const body = { status, dependencies: { temporal, mongodb, neo4j }, indexes: indexes() };
        if (status === 'ready') return body;
        ctx.res.status(503).json(body);
        return undefined;
      },
    }),
  ];
}

const probeMs = 3000;

async function state(probe: Promise<void>): Promise<'up' | 'down'> {
  return within(probeMs, probe, () => new AppError('unavailable', 'no answer in time')).then(
    () => 'up',
    () => 'down',
  );
}
