import type { AuthDeps } from '../create-auth.js';
import { createOauthAccess } from './oauth-access.js';
import { createGrants } from './grants.js';

export type Oauth = ReturnType<typeof createOauth>;

/** Checks access tokens and ends grants. */
export function createOauth({ mongo: { collections }, auth, log }: AuthDeps) {
  const grants = createGrants({ collections, box: auth.box, log });
  return { grants, access: createOauthAccess({ auth, grants }) };
}
