import { followRepository, readSyncs, startCatalogSync, unfollowRepository } from '../../domain/catalog/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'syncs';

/** The syncs that write the catalog and the followed repositories into the graph of a project. */
export const syncRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/{projectID}/syncs',
    operation: readSyncs,
    tag,
    summary: 'Read the state of the syncs of a project',
    description:
      'The runs are lifecycles: `GET /v1/lifecycles` with the tool `catalog-sync`, `code-sync` or `catalog-ingest`.',
    response: { description: 'The catalog, and the followed repositories.' },
  }),
  operationRoute({
    method: 'post',
    path: '/{projectID}/syncs/catalog',
    operation: startCatalogSync,
    tag,
    summary: 'Start a sync of the catalog',
    description: 'As if the catalog had announced a change: the sync starts after the quiet window.',
    response: { description: 'The state of the catalog.' },
    repeatable: true,
  }),
  operationRoute({
    method: 'post',
    path: '/{projectID}/syncs/repositories',
    operation: followRepository,
    tag,
    summary: 'Follow a repository',
    description: 'As `POST /v1/bind-repository`, for administrators. Following it again replaces the secret.',
    response: { description: 'The binding, with the secret of its webhook, which is returned once.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'delete',
    path: '/{projectID}/syncs/repositories',
    operation: unfollowRepository,
    tag,
    summary: 'Stop following a repository',
    description: 'Its pushes are ignored from then on. What earlier pushes wrote stays.',
    response: { description: 'The repository.' },
  }),
];
