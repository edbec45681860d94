import type { Tokens } from '../tokens.js';
import type { Scope } from './scopes.js';
import type { OauthGrantDocument } from './grants.js';

const accessTokenSeconds = 900;

/** The current role of the user, and the organization and department of the project. */
export interface CurrentRole {
  role: string;
  organization_id: string;
  department_id: string;
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
  current: CurrentRole;
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
    role: current.role,
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
