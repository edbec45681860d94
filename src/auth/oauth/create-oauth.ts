import type { AuthDeps } from '../create-auth.js';
import { createOauthAccess, type OauthAccess } from './oauth-access.js';
import { createGrants, type Grants } from './grants.js';

/** Checks access tokens and ends grants. */
export interface Oauth {
  grants: Grants;
  access: OauthAccess;
}

export function createOauth({ mongo: { collections }, auth, log }: AuthDeps): Oauth {
  const grants = createGrants({ collections, box: auth.box, log });
  return { grants, access: createOauthAccess({ auth, grants }) };
}
