import type { JWTPayload } from 'jose';
import { z } from 'zod';
import { AppError, isAppError } from '../errors.js';
import { authenticateApiKey, looksLikeApiKey } from './api-keys.js';
import type { AuthDeps } from './create-auth.js';
import { defaultGrants, Grant } from './grants.js';
import type { Principal } from './principal.js';
import { tokenInvalid } from './tokens.js';

const longestCredential = 8192;
const wellFormed = /^[A-Za-z0-9._~+/-]+=*$/;

/** Access tokens of this service's own authorization server (src/oauth), where it is served. */
export interface OauthBearers {
  claims(token: string): boolean;
  principal(token: string, baseUrl: string): Promise<Principal>;
}

export type BearerDeps = AuthDeps & { oauth?: { access: OauthBearers } };

/** The claims of a user token (specification, User tokens) and what ours add. */
const Claims = z.object({
  sub: z.string().min(1).max(255),
  role: z.string().min(1).max(100),
  org_id: z.string().min(1).max(255),
  dept_id: z.string().min(1).max(255),
  project_id: z.string().min(1).max(255),
  token_use: z.enum(['user', 'session']),
  grants: z.array(z.string()).optional(),
  sid: z.string().optional(),
});

/**
 * Resolves the `Authorization` header of a gateway call; every header of that name, where there were several.
 * State of keys and sessions is read on each call, so a revocation holds at once in every process.
 * @throws AppError `invalid_token` (401) in the three texts of the specification, with `Www-Authenticate`
 */
export async function authenticateBearer(
  deps: BearerDeps,
  authorization: string | readonly string[] | undefined,
  baseUrl: string,
): Promise<Principal> {
  const metadata = `resource_metadata="${baseUrl}/.well-known/oauth-protected-resource"`;
  const credential = credentialOf(authorization);
  if (credential === undefined) {
    throw new AppError('invalid_token', 'missing bearer credential', { headers: { 'Www-Authenticate': `Bearer ${metadata}` } });
  }
  try {
    return await principalOf(deps, credential, baseUrl);
  } catch (error) {
    if (!isAppError(error) || error.code !== 'invalid_token') throw error;
    const headers = { 'Www-Authenticate': `Bearer error="invalid_token", ${metadata}` };
    throw new AppError('invalid_token', error.message, { headers, cause: error });
  }
}

/** Undefined for no bearer credential; an empty text, which nothing accepts, for several headers. */
function credentialOf(authorization: string | readonly string[] | undefined): string | undefined {
  const headers = typeof authorization === 'string' ? [authorization] : (authorization ?? []);
  const [header] = headers;
  if (header === undefined) return undefined;
  if (headers.length > 1) return '';
  const credential = /^\s*bearer(?=\s|$)(.*)$/is.exec(header)?.[1]?.trim();
  return credential === '' ? undefined : credential;
}

async function principalOf({ auth, oauth }: BearerDeps, credential: string, baseUrl: string): Promise<Principal> {
  if (looksLikeApiKey(credential)) return authenticateApiKey(auth.readKey, credential, auth.keyUse);
  if (credential.length > longestCredential || !wellFormed.test(credential)) throw new AppError('invalid_token', tokenInvalid);
  if (auth.outsideTokens?.claims(credential)) {
    return { ...fromClaims(await auth.outsideTokens.verify(credential)), outside: true };
  }
  if (oauth?.access.claims(credential)) return oauth.access.principal(credential, baseUrl);
  const payload = await auth.tokens.verify(credential, { tokenUse: ['user', 'session'] });
  const principal = fromClaims(payload);
  if (typeof payload.sid !== 'string' || !(await auth.sessions.isLive(payload.sid))) throw new AppError('invalid_token', tokenInvalid);
  return { ...principal, sessionId: payload.sid };
}

function fromClaims(payload: JWTPayload): Principal {
  const parsed = Claims.safeParse(payload);
  if (!parsed.success) throw new AppError('invalid_token', tokenInvalid);
  const claims = parsed.data;
  const named = claims.grants && Grant.options.filter((grant) => claims.grants?.includes(grant));
  return {
    kind: claims.token_use === 'session' ? 'session' : 'user_jwt',
    userId: claims.sub,
    organizationId: claims.org_id,
    departmentId: claims.dept_id,
    projectId: claims.project_id,
    role: claims.role,
    grants: named ?? defaultGrants(claims.role),
    ...(named ? { tokenGrants: named } : {}),
  };
}
