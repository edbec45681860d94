import { z } from 'zod';
import type { AuthDeps } from '../../../auth/create-auth.js';
import { defineRoute, type Route } from '../../rest/define-route.js';

/** Half of the time between publishing a new key and signing with it (src/auth/signing-keys.ts). */
const cacheSeconds = 300;

const PublicKey = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string().meta({ example: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }),
  y: z.string().meta({ example: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0' }),
  kid: z.string().meta({ example: 'svc-2026-01' }),
  alg: z.literal('ES256'),
  use: z.literal('sig'),
});

/** Serves the public keys of this service's tokens (RFC 7517). */
export function jwksRoutes(deps: AuthDeps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/.well-known/jwks.json',
      permission: 'public',
      tag: 'authentication',
      summary: 'Read the public signing keys',
      description: 'With `retired=true`, includes keys that no longer sign tokens, to verify earlier statements.',
      query: z.object({
        retired: z.enum(['true', 'false']).default('false').describe('Whether to include keys that no longer sign.'),
      }),
      response: {
        schema: z.object({ keys: z.array(PublicKey.strict()) }).meta({ id: 'KeySet' }),
        description: 'Keys in use and the next one.',
      },
      handler: async ({ ctx, query }) => {
        const { keys } = deps.auth;
        const set = query.retired === 'true' ? await keys.history() : await keys.published();
        ctx.res.set('Cache-Control', `public, max-age=${cacheSeconds}`);
        return set;
      },
    }),
  ];
}
