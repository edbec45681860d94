import { z } from 'zod';
import { AppError, isAppError } from '../../base/errors.js';
import type { Auth } from '../create-auth.js';
import { rolesOf, toStoredRoles } from '../grants.js';
import type { Principal } from '../principal.js';
import { tokenInvalid, unverifiedClaims } from '../tokens.js';
import { resourcesOf } from './resources.js';
import { knownScopes } from './scopes.js';
import type { Grants } from './grants.js';

const Claims = z.object({
  sub: z.string(),
  role: z.string(),
  roles: z.array(z.string()).optional(),
  org_id: z.string(),
  dept_id: z.string(),
  project_id: z.string(),
  client_id: z.string(),
  scope: z.string(),
  sid: z.string(),
});
type Claims = z.infer<typeof Claims>;

export type OauthAccess = ReturnType<typeof createOauthAccess>;

/** The resource server: accepts access tokens of this service as bearer credentials. */
export function createOauthAccess({ auth, grants }: { auth: Pick<Auth, 'tokens'>; grants: Grants }) {
  async function verified(token: string, baseUrl: string): Promise<Claims> {
    const payload = await auth.tokens.verify(token, {
      tokenUse: ['oauth'],
      issuer: baseUrl,
      audience: resourcesOf(baseUrl),
    });
    const parsed = Claims.safeParse(payload);
    if (!parsed.success) throw new AppError('invalid_token', tokenInvalid);
    return parsed.data;
  }

  return {
    /** Returns whether the token says that it is an access token of this service. */
    claims: (token: string) => unverifiedClaims(token).token_use === 'oauth',
    /** @throws AppError `invalid_token`, also for another audience and for a grant that has ended */
    async principal(token: string, baseUrl: string): Promise<Principal> {
      const claims = await verified(token, baseUrl);
      if (!(await grants.isLive(claims.sid))) throw new AppError('invalid_token', tokenInvalid);
      const scopes = knownScopes(claims.scope);
      return {
        kind: 'user_jwt',
        userId: claims.sub,
        organizationId: claims.org_id,
        departmentId: claims.dept_id,
        projectId: claims.project_id,
        ...toStoredRoles(rolesOf(claims)),
        grants: scopes,
        tokenGrants: scopes,
        clientId: claims.client_id,
        grantId: claims.sid,
      };
    },
    /** Returns the grant and the client of a token, or undefined if it is not authentic or has expired. */
    async ownerOf(token: string, baseUrl: string): Promise<{ grantId: string; clientId: string } | undefined> {
      try {
        const { sid, client_id } = await verified(token, baseUrl);
        return { grantId: sid, clientId: client_id };
      } catch (error) {
        if (isAppError(error) && error.code === 'invalid_token') return undefined;
        throw error;
      }
    },
  };
}
