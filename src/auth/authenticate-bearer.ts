import type { JWTPayload } from 'jose';
import { z } from 'zod';
import { AppError, isAppError } from '../base/errors.js';
import { authenticateApiKey, looksLikeApiKey } from './api-keys.js';
import type { AuthDeps } from './create-auth.js';
import { noteExternalIdentity } from './external-identities.js';
import { defaultGrants, Grant, memberRoles, toStoredRoles } from './grants.js';
import type { Oauth } from './oauth/create-oauth.js';
import type { Principal } from './principal.js';
import { resourceMetadataOf } from './require-grant.js';
import { tokenInvalid } from './tokens.js';

const maxCredentialLength = 8192;
const otherHeader = ': send the API key as Authorization: Bearer, not in x-api-key';
const wellFormed = /^[A-Za-z0-9._~+/-]+=*$/;

export type BearerDeps = AuthDeps & { oauth: Pick<Oauth, 'access'> };

/** The claims of a user token (specification, User tokens), with the claims that this service adds. */
const Claims = z.object({
  sub: z.string().min(1).max(255),
  role: z.string().min(1).max(100).optional(),
  roles: z.array(z.string().max(255)).max(1000).optional(),
  org_id: z.string().min(1).max(255),
  dept_id: z.string().min(1).max(255),
  project_id: z.string().min(1).max(255),
  token_use: z.enum(['user', 'session']),
  grants: z.array(z.string()).optional(),
  sid: z.string().optional(),
});

/**
 * Resolves the `Authorization` header of a gateway call to its principal. `authorization` contains all such headers if
 * the request has several. Reads the state of keys and sessions on every call, so a revocation takes effect immediately
 * in every process.
 * @throws AppError `invalid_token` with one of the three messages of the specification and the URL of the resource
 * metadata. The message for a missing credential names the right header to a caller who sent `x-api-key`.
 */
export async function authenticateBearer(
  deps: BearerDeps,
  authorization: string | readonly string[] | undefined,
  baseUrl: string,
  { hasApiKeyHeader = false }: { hasApiKeyHeader?: boolean | undefined } = {},
): Promise<Principal> {
  const resourceMetadata = resourceMetadataOf(baseUrl);
  const credential = credentialOf(authorization);
  if (credential === undefined)
    throw new AppError('invalid_token', `missing bearer credential${hasApiKeyHeader ? otherHeader : ''}`, {
      resourceMetadata,
    });
  try {
    return await principalOf(deps, credential, baseUrl);
  } catch (error) {
    if (!isAppError(error) || error.code !== 'invalid_token') throw error;
    throw new AppError('invalid_token', error.message, { resourceMetadata, credentialRefused: true, cause: error });
  }
}

/** Returns undefined without a bearer credential, and an empty string, which is never valid, for several headers. */
function credentialOf(authorization: string | readonly string[] | undefined): string | undefined {
  const headers = typeof authorization === 'string' ? [authorization] : (authorization ?? []);
  const [header] = headers;
  if (header === undefined) return undefined;
  if (headers.length > 1) return '';
  const credential = /^\s*bearer(?=\s|$)(.*)$/is.exec(header)?.[1]?.trim();
  return credential === '' ? undefined : credential;
}

async function principalOf(
  { auth, oauth, mongo }: BearerDeps,
  credential: string,
  baseUrl: string,
): Promise<Principal> {
  if (looksLikeApiKey(credential)) return authenticateApiKey(auth, credential);
  if (credential.length > maxCredentialLength || !wellFormed.test(credential))
    throw new AppError('invalid_token', tokenInvalid);
  if (auth.externalTokens?.claims(credential)) {
    const payload = await auth.externalTokens.verify(credential);
    const principal: Principal = { ...fromClaims(payload), isExternal: true };
    await noteExternalIdentity(mongo.collections, principal, payload.exp ?? 0);
    return principal;
  }
  if (oauth.access.claims(credential)) return oauth.access.principal(credential, baseUrl);
  const payload = await auth.tokens.verify(credential, { tokenUse: ['user', 'session'] });
  const principal = fromClaims(payload);
  if (typeof payload.sid !== 'string' || !(await auth.sessions.isLive(payload.sid)))
    throw new AppError('invalid_token', tokenInvalid);
  return { ...principal, sessionId: payload.sid };
}

function fromClaims(payload: JWTPayload): Principal {
  const parsed = Claims.safeParse(payload);
  if (!parsed.success) throw new AppError('invalid_token', tokenInvalid);
  const claims = parsed.data;
  const stored = rolesIn(claims);
  if (!stored) throw new AppError('invalid_token', tokenInvalid);
  const named = claims.grants && Grant.options.filter((grant) => claims.grants?.includes(grant));
  return {
    kind: claims.token_use === 'session' ? 'session' : 'user_jwt',
    userId: claims.sub,
    organizationId: claims.org_id,
    departmentId: claims.dept_id,
    projectId: claims.project_id,
    ...stored,
    grants: named ?? defaultGrants(stored.role),
    ...(named ? { tokenGrants: named } : {}),
  };
}

/**
 * The roles of a token: `role`, and those in `roles` that this service knows. An identity provider can send either.
 * Undefined if it sends none.
 */
function rolesIn({ role, roles = [] }: Pick<z.infer<typeof Claims>, 'role' | 'roles'>) {
  const known = memberRoles.filter((each) => roles.includes(each));
  const held = [...(role === undefined ? [] : [role]), ...known];
  return held.length === 0 ? undefined : toStoredRoles(held);
}
