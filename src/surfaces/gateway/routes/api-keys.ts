import { createKey, createKeyOfProject, listKeys, revokeKey } from '../../../domain/api-keys/operations.js';
import { routesOf, type Route } from '../../rest/define-route.js';

const route = routesOf('API keys');
const scope = 'organization';
const headers = { 'Cache-Control': 'no-store' };

/** API keys. The caller needs a user token and an admin role on the project (specification, API keys). */
export const apiKeyRoutes: readonly Route[] = [
  route('POST /v1/apikeys', createKey, {
    scope,
    summary: 'Create an API key',
    description:
      'Not available to keys and sessions. Without explicit grants, the key gets those of the role, but never more than its creator has.',
    response: { description: 'The key. Its secret is shown only once.', headers },
  }),
  route('GET /v1/apikeys', listKeys, {
    scope,
    summary: 'List the API keys of a project',
    response: { description: 'Keys, newest first, including revoked keys.' },
  }),
  route('DELETE /v1/apikeys/{key_id}', revokeKey, {
    scope,
    summary: 'Revoke an API key at once',
    response: { description: 'The key is revoked; this is also the answer if it already was.' },
  }),
];

/** Creates API keys at the path of the platform API, with the same rules (contract, API key). */
export const platformApiKeyRoutes: readonly Route[] = [
  route('POST /api-key', createKeyOfProject, {
    scope,
    summary: 'Create an API key',
    description:
      'Requires the bearer token of a user with an admin role on the project. API keys cannot create API keys.',
    response: { description: 'The key with its secret, which is returned only once.', headers },
  }),
];
