import { z } from 'zod';
import {
  ApiKeyItem,
  ApiKeyListQuery,
  ApiKeyRequest,
  listApiKeys,
  mintApiKey,
  NewApiKeyAnswer,
  revokeApiKey,
} from '../../auth/api-key-admin.js';
import type { AuthDeps } from '../../auth/create-auth.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { listOf } from '../../http/lists.js';

const shared = { permission: 'any', tag: 'API keys', scope: 'organization', errors: ['S2:resolve-scope'] } as const;

const NewApiKey = ApiKeyRequest.extend({ project_id: z.string().min(1) }).meta({
  id: 'ApiKeyRequest',
  example: { name: 'Nightly import', project_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10' },
});

/** API keys, for user tokens with an admin role on the project (specification, API keys). */
export function apiKeyRoutes(deps: AuthDeps): Route[] {
  return [
    defineRoute({
      ...shared,
      method: 'post',
      path: '/v1/apikeys',
      summary: 'Make an API key',
      description: 'Not by a key or a session. Without explicit grants the key has those of the role, never more than its minter.',
      body: NewApiKey,
      response: { schema: NewApiKeyAnswer, description: 'The key, with its secret for the only time.' },
      handler: ({ ctx, body: { project_id, ...request } }) => {
        ctx.res.set('Cache-Control', 'no-store');
        return mintApiKey(deps, ctx.principal, project_id, request);
      },
    }),
    defineRoute({
      ...shared,
      method: 'get',
      path: '/v1/apikeys',
      summary: 'List the API keys of a project',
      query: ApiKeyListQuery,
      response: { schema: listOf(ApiKeyItem), description: 'Keys, newest first, revoked ones too.' },
      handler: ({ ctx, query }) => listApiKeys(deps, ctx.principal, query),
    }),
    defineRoute({
      ...shared,
      method: 'delete',
      path: '/v1/apikeys/{key_id}',
      summary: 'Revoke an API key at once',
      params: z.object({ key_id: z.string() }),
      query: z.object({ project_id: z.string().min(1) }),
      response: { schema: z.object({ id: z.string(), revoked: z.literal(true) }), description: 'Also for a key that was revoked before.' },
      handler: ({ ctx, params, query }) => revokeApiKey(deps, ctx.principal, query.project_id, params.key_id),
    }),
  ];
}
