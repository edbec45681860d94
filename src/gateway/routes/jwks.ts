import { z } from 'zod';
import type { AuthDeps } from '../../auth/create-auth.js';
import { defineRoute, type Route } from '../../http/define-route.js';

/** Half of the time for which a new key is published before it signs (src/auth/signing-keys.ts). */
const cacheSeconds = 300;

const PublicKey = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  kid: z.string(),
  alg: z.literal('ES256'),
  use: z.literal('sig'),
});

/** The public keys of this service's tokens (RFC 7517). */
export function jwksRoutes(deps: AuthDeps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/.well-known/jwks.json',
      permission: 'public',
      tag: 'authentication',
      summary: 'Read the public signing keys',
      description: 'With `retired=true` also keys that no token is signed with any more, for the statements that they signed.',
      query: z.object({ retired: z.enum(['true', 'false']).default('false') }),
      response: { schema: z.object({ keys: z.array(PublicKey.strict()) }).meta({ id: 'KeySet' }), description: 'Keys in use and the next one.' },
      handler: async ({ ctx, query }) => {
        const { keys } = deps.auth;
        const set = query.retired === 'true' ? await keys.history() : await keys.published();
        ctx.res.set('Cache-Control', `public, max-age=${cacheSeconds}`);
        return set;
      },
    }),
  ];
}
