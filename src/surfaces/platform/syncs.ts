import { followRepository, readSyncs, startCatalogSync, unfollowRepository } from '../../domain/catalog/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('syncs');

/** The syncs that write the catalog and the followed repositories into the graph of a project. */
export const syncRoutes: readonly Route[] = [
  route('GET /{projectID}/syncs', readSyncs, {
    summary: 'Read the state of the syncs of a project',
    description:
      'The runs are lifecycles: `GET /v1/lifecycles` with the tool `catalog-sync`, `code-sync` or `catalog-ingest`.',
    response: { description: 'The catalog, and the followed repositories.' },
  }),
  route('POST /{projectID}/syncs/catalog', startCatalogSync, {
    summary: 'Start a sync of the catalog',
    description: 'As if the catalog had announced a change: the sync starts after the quiet window.',
    response: { description: 'The state of the catalog.' },
    repeatable: true,
  }),
  route('POST /{projectID}/syncs/repositories', followRepository, {
    summary: 'Follow a repository',
    description: 'As `POST /v1/bind-repository`, for administrators. Following it again replaces the secret.',
    response: { description: 'The binding, with the secret of its webhook, which is returned once.' },
    idempotent: true,
  }),
  route('DELETE /{projectID}/syncs/repositories', unfollowRepository, {
    summary: 'Stop following a repository',
    description: 'Its pushes are ignored from then on. What earlier pushes wrote stays.',
    response: { description: 'The repository.' },
  }),
];
