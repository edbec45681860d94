import { z } from 'zod';
import { PolicyDecision } from '../../governance/lifecycles/policy-decision.js';
import { LifecycleQuery, listLifecycles, listPolicyDecisions, readLifecycle } from '../../governance/lifecycles/read.js';
import { Lifecycle } from '../../governance/lifecycles/record.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { ListQuery, listOf } from '../../http/lists.js';
import type { Mongo } from '../../stores/mongo.js';

export interface LifecycleRoutesDeps {
  mongo: Pick<Mongo, 'collections'>;
}

/** What was done in the credential's project, and what the policies said about it. */
export function lifecycleRoutes({ mongo: { collections } }: LifecycleRoutesDeps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/lifecycles',
      permission: 'any',
      tag: 'governance',
      summary: 'List the governed calls of the project',
      query: LifecycleQuery,
      response: { schema: listOf(Lifecycle), description: 'Newest first.' },
      handler: ({ ctx, query }) => listLifecycles(collections, ctx.principal, query),
    }),
    defineRoute({
      method: 'get',
      path: '/v1/lifecycles/{id}',
      permission: 'any',
      tag: 'governance',
      summary: 'Read one governed call',
      description: 'Every stage that the call reached, in order; the first failed one refused it.',
      params: z.object({ id: z.string() }),
      response: { schema: Lifecycle, description: 'The lifecycle.' },
      handler: ({ ctx, params }) => readLifecycle(collections, ctx.principal, params.id),
    }),
    defineRoute({
      method: 'get',
      path: '/v1/policy-decisions',
      permission: 'any',
      tag: 'governance',
      summary: 'List the policy decisions of the project',
      query: ListQuery,
      response: { schema: listOf(PolicyDecision), description: 'Newest first.' },
      handler: ({ ctx, query }) => listPolicyDecisions(collections, ctx.principal, query),
    }),
  ];
}
