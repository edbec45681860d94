import type { Request } from 'express';
import { authenticateBearer } from '../../auth/authenticate-bearer.js';
import type { Principal } from '../../auth/principal.js';
import { resolveScope, workspaceHeader } from '../../auth/resolve-scope.js';
import type { Deps } from '../../domain/deps.js';
import { AppError, isAppError } from '../../base/errors.js';
import { callerOf } from '../../governance/approvals/resume-token.js';
import type { Trace } from '../../http/trace.js';
import { Scope } from '../../auth/oauth/scopes.js';
import { resourceMetadataOf } from '../../auth/require-grant.js';

/** The credentials of one HTTP request, which may be checked several times. */
interface Credentials {
  authorization: readonly string[] | undefined;
  workspace: string | undefined;
  /** Whether the caller sent the header in which the platform takes API keys. */
  hasApiKeyHeader?: boolean;
}

/** Credentials with the principal of their last check. */
export interface CheckedCredentials extends Credentials {
  principal: Principal;
}

/** The sender of the HTTP request that carried a message, who may differ from the caller who opened the session. */
export interface Caller extends CheckedCredentials {
  trace: Trace;
}

export type Authenticate = ReturnType<typeof createAuthenticate>;
export type RecheckCredentials = ReturnType<typeof createRecheckCredentials>;

/** Authenticates requests, in one step or in the two that the kernel makes. */
export function createAuthenticate(deps: Deps, baseUrl: () => string) {
  /** @throws AppError `invalid_token` */
  const credential = ({ authorization, hasApiKeyHeader }: Credentials): Promise<Principal> =>
    authenticateBearer(deps, authorization, baseUrl(), { hasApiKeyHeader });
  /** @throws AppError `scope_denied` for a workspace that the credential cannot access */
  const scope = (principal: Principal, { workspace }: Credentials): Promise<Principal> =>
    resolveScope(deps, principal, workspace);
  return {
    credential,
    scope,
    whole: async (credentials: Credentials): Promise<Principal> => scope(await credential(credentials), credentials),
  };
}

/**
 * Checks credentials that were valid before. An expired token is accepted while its session or OAuth grant is active.
 * @throws AppError `invalid_token`, `scope_denied`
 */
export function createRecheckCredentials(deps: Pick<Deps, 'auth' | 'oauth'>, authenticate: Authenticate) {
  return async ({ principal, ...credentials }: CheckedCredentials): Promise<Principal> => {
    try {
      return await authenticate.whole(credentials);
    } catch (error) {
      if (!isAppError(error) || error.code !== 'invalid_token') throw error;
      if (await lives(deps, principal)) return principal;
      throw new AppError('invalid_token', 'the credential of this call was revoked or has ended; sign in again', {
        cause: error,
      });
    }
  };
}

async function lives(
  { auth, oauth }: Pick<Deps, 'auth' | 'oauth'>,
  { grantId, sessionId }: Principal,
): Promise<boolean> {
  if (grantId !== undefined) return oauth.grants.isLive(grantId);
  return sessionId !== undefined && auth.sessions.isLive(sessionId);
}

export function credentialsOf(req: Request): Credentials {
  return {
    authorization: req.headersDistinct.authorization,
    workspace: req.get(workspaceHeader),
    hasApiKeyHeader: req.get('x-api-key') !== undefined,
  };
}

/**
 * Returns the URL of the metadata of the requested resource. Its `resource` must equal the requested URL (RFC 9728,
 * 3.3).
 */
export function metadataFor(baseUrl: string, { path }: Pick<Request, 'path'>): string {
  const end = path.endsWith('/') ? '/' : '';
  return resourceMetadataOf(baseUrl, path.startsWith('/mcp') ? '/mcp' : '/sse') + end;
}

/**
 * Adds the URL of the resource's metadata and the scopes to request to the refusal of a credential. Clients request
 * exactly these (MCP authorization, scope selection), so they are all: the person chooses on the consent page.
 */
export function challenged(error: unknown, baseUrl: string, req: Request): unknown {
  if (!isAppError(error) || error.code !== 'invalid_token') return error;
  return new AppError('invalid_token', error.message, {
    resourceMetadata: metadataFor(baseUrl, req),
    scopes: Scope.options,
    ...(credentialsOf(req).authorization !== undefined && { credentialRefused: true }),
    cause: error,
  });
}

/**
 * Identifies the owner of a session or task: one key, or one person with one kind of token and one client, in one
 * project.
 */
export function ownerOf(principal: Principal): string {
  return `${callerOf(principal)}@${principal.projectId}`;
}

/** The form in which both SDKs pass the caller to their handlers unchanged. Only `attachedCaller` reads it. */
export function authOf(caller: Caller) {
  const { clientId, grants } = caller.principal;
  return { token: '', clientId: clientId ?? '', scopes: [...grants], extra: { caller } };
}

export function attachCaller(req: Request, caller: Caller): void {
  Object.assign(req, { auth: authOf(caller) });
}

export function attachedCaller(auth: { extra?: Record<string, unknown> } | undefined): Caller {
  if (!auth?.extra?.caller) throw new Error('the message has no caller');
  return auth.extra.caller as Caller;
}
