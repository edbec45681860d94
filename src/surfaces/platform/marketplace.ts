import { checkUpdate, hire, listPublications, publish, readPublication } from '../../domain/marketplace/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'marketplace';

/** Coworkers that organizations publish for others to hire (contract, marketplace). */
export const marketplaceRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/marketplace',
    operation: listPublications,
    tag,
    scope: 'organization',
    summary: 'List publications, newest first',
    description: 'Sorted by the time of the first publication: a later version does not move a publication.',
    response: { description: 'Publications of all organizations.' },
  }),
  operationRoute({
    method: 'post',
    path: '/marketplace',
    operation: publish,
    tag,
    summary: 'Publish an agentflow, or its next version',
    description:
      'A publication does not contain connectors, triggers, knowledge, or credentials in URLs. Later edits of the agentflow do not affect it.',
    response: { status: 201, description: 'The publication.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'post',
    path: '/marketplace/coworker/{id}/hire',
    operation: hire,
    tag,
    summary: 'Copy a published coworker into the project',
    response: { status: 201, description: 'The copy, with `parent_agentflow_id` and `marketplace_id`.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'get',
    path: '/marketplace/coworker/{id}/check_update',
    operation: checkUpdate,
    tag,
    summary: 'Check for a newer version of a hired coworker',
    description: '`id` is the hired copy, or a publication, which refers to its newest copy in the project.',
    response: { description: 'The hired version and the latest version.' },
  }),
  operationRoute({
    method: 'get',
    path: '/marketplace/{id}',
    operation: readPublication,
    tag,
    scope: 'organization',
    summary: 'Read a publication with its versions',
    response: { description: 'The publication and the content of its latest version.' },
  }),
];
