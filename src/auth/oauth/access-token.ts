import type { AuthDeps } from '../create-auth.js';
import { toStoredRoles } from '../grants.js';
import { findProjectWithRoles } from '../project-roles.js';
import type { Tokens } from '../tokens.js';
import type { Scope } from './scopes.js';
import type { OauthGrantDocument } from './grants.js';

const accessTokenSeconds = 900;

type CurrentRoles = NonNullable<Awaited<ReturnType<typeof readCurrentRoles>>>;

/**
 * Returns the person's current roles on the project of the grant, and the organization and department of the project.
 * Returns undefined if the project, the account or the role no longer exists.
 */
export async function readCurrentRoles(
  { mongo: { collections } }: Pick<AuthDeps, 'mongo'>,
  grant: Pick<OauthGrantDocument, 'user_id' | 'project_id'>,
) {
  const [user, current] = await Promise.all([
    collections.users.findOne({ _id: grant.user_id }),
    findProjectWithRoles(collections, grant.user_id, grant.project_id),
  ]);
  if (!user || !current) return undefined;
  const { project, role, roles } = current;
  return { role, roles, organization_id: project.organization_id, department_id: project.department_id };
}

export interface TokenAnswer {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token?: string;
  scope: string;
}

interface AccessTokenOf {
  grant: Pick<OauthGrantDocument, '_id' | 'client_id' | 'user_id' | 'project_id' | 'resource'>;
  current: CurrentRoles;
  scopes: readonly Scope[];
  refreshToken: string | undefined;
  issuer: string;
}

/** Builds the response of the token endpoint (RFC 6749, 5.1): a JWT access token (RFC 9068) and the refresh token. */
export async function tokenAnswer(
  tokens: Tokens,
  { grant, current, scopes, refreshToken, issuer }: AccessTokenOf,
): Promise<TokenAnswer> {
  const scope = scopes.join(' ');
  const claims = {
    aud: grant.resource,
    sub: grant.user_id,
    ...toStoredRoles(current.roles),
    org_id: current.organization_id,
    dept_id: current.department_id,
    project_id: grant.project_id,
    token_use: 'oauth',
    client_id: grant.client_id,
    scope,
    sid: grant._id,
  };
  return {
    access_token: await tokens.sign(claims, { expiresInSeconds: accessTokenSeconds, issuer }),
    token_type: 'Bearer',
    expires_in: accessTokenSeconds,
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    scope,
  };
}
