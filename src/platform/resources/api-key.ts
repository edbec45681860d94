import { z } from 'zod';
import { ApiKeyRequest, mintApiKey, NewApiKeyAnswer } from '../../auth/api-key-admin.js';
import type { AuthDeps } from '../../auth/create-auth.js';
import { defineRoute, type Route } from '../../http/define-route.js';

/** The platform's key generation: a user's bearer token, and the gateway's own minting rules (contract, API key). */
export function platformApiKeyRoutes(deps: AuthDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/api-key',
      permission: 'any',
      tag: 'API keys',
      scope: 'organization',
      errors: ['S2:resolve-scope'],
      summary: 'Make an API key',
      description: 'With the bearer token of a user who has an admin role on the project; no key makes a key.',
      query: z.object({ projectID: z.string().min(1) }),
      body: ApiKeyRequest,
      response: { schema: NewApiKeyAnswer, description: 'The key, with its secret for the only time.' },
      handler: ({ ctx, query, body }) => {
        ctx.res.set('Cache-Control', 'no-store');
        return mintApiKey(deps, ctx.principal, query.projectID, body);
      },
    }),
  ];
}
