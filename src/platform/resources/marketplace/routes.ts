import { z } from 'zod';
import type { Deps } from '../../../deps.js';
import { defineRoute, type Route } from '../../../http/define-route.js';
import { listOf, listPage, ListQuery } from '../../../http/lists.js';
import type { Collections } from '../../../stores/collections.js';
import { answerOf } from '../agentflows/routes.js';
import { Agentflow } from '../agentflows/schemas.js';
import { NewPublication, Publication, PublicationDetails, UpdateCheck } from './schemas.js';
import { checkUpdate, hire, publish, readPublication } from './store.js';

const tag = 'marketplace';
const reads = 'svc:orchestrate.read';
const changes = 'svc:orchestrate.write';
const params = z.object({ id: z.string() });
const query = z.object({ projectID: z.string().optional() });

/** Coworkers that organizations publish for others to hire (contract, marketplace). */
export function marketplaceRoutes(deps: Pick<Deps, 'mongo' | 'customers'>): Route[] {
  return [...publicationRoutes(deps.mongo.collections), ...coworkerRoutes(deps), readRoute(deps.mongo.collections)];
}

function publicationRoutes(collections: Collections): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/marketplace',
      permission: reads,
      tag,
      scope: 'organization',
      query: ListQuery,
      summary: 'List what is published, newest first',
      response: { schema: listOf(Publication), description: 'Publications of every organization.' },
      handler: ({ query }) => listPage(collections.publications, { latest_version: { $gt: 0 } }, query),
    }),
    defineRoute({
      method: 'post',
      path: '/marketplace',
      permission: changes,
      tag,
      query,
      summary: 'Publish an agentflow, or its next version',
      errors: ['not_found', 'validation_failed'],
      description: 'Connectors, triggers, knowledge and credentials in addresses stay behind. Later edits of the agentflow do not reach what is published.',
      body: NewPublication,
      response: { status: 201, schema: PublicationDetails, description: 'The publication.' },
      idempotent: true,
      handler: ({ ctx, body }) => publish(collections, ctx, body),
    }),
  ];
}

function coworkerRoutes(deps: Pick<Deps, 'mongo' | 'customers'>): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/marketplace/coworker/{id}/hire',
      permission: changes,
      tag,
      params,
      query,
      summary: 'Copy a published coworker into the project',
      response: { status: 201, schema: Agentflow, description: 'The copy, with `parent_agentflow_id` and `marketplace_id`.' },
      errors: ['plan_limit'],
      idempotent: true,
      handler: async ({ ctx, params: { id } }) => answerOf(await hire(deps, ctx, id)),
    }),
    defineRoute({
      method: 'get',
      path: '/marketplace/coworker/{id}/check_update',
      permission: reads,
      tag,
      params,
      query,
      summary: 'Tell whether a newer version of a hired coworker is published',
      description: '`id` is the hired copy, or the publication: then its newest copy in the project is meant.',
      response: { schema: UpdateCheck, description: 'The version that was hired, and the latest.' },
      handler: ({ ctx: { principal }, params: { id } }) => checkUpdate(deps.mongo.collections, principal, id),
    }),
  ];
}

function readRoute(collections: Collections): Route {
  return defineRoute({
    method: 'get',
    path: '/marketplace/{id}',
    permission: reads,
    tag,
    scope: 'organization',
    params,
    summary: 'Read a publication with its versions',
    response: { schema: PublicationDetails, description: 'The publication, and what a copy of its latest version holds.' },
    handler: ({ params: { id } }) => readPublication(collections, id),
  });
}
