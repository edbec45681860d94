import type { Request } from 'express';
import { authenticateBearer } from '../../auth/authenticate-bearer.js';
import type { Principal } from '../../auth/principal.js';
import { resolveScope } from '../../auth/resolve-scope.js';
import type { Deps } from '../../deps.js';
import { callerOf } from '../../governance/approvals/resume-token.js';
import type { Trace } from '../../http/trace.js';
import { workspaceHeader } from '../rest.js';

/** What one HTTP request says of who sends it, to be checked as often as it matters. */
export interface Credentials {
  authorization: readonly string[] | undefined;
  workspace: string | undefined;
}

/** Who sent the HTTP request that a message came with; never the one who opened the session. */
export interface Caller extends Credentials {
  principal: Principal;
  trace: Trace;
}

/** @throws AppError `invalid_token` (401), or `S2:resolve-scope` (403) for a workspace that the credential does not reach */
export type Authenticate = (credentials: Credentials) => Promise<Principal>;

export function createAuthenticate(deps: Deps, baseUrl: () => string): Authenticate {
  return async ({ authorization, workspace }) => resolveScope(deps, await authenticateBearer(deps, authorization, baseUrl()), workspace);
}

export function credentialsOf(req: Request): Credentials {
  return { authorization: req.headersDistinct.authorization, workspace: req.get(workspaceHeader) };
}

/** Whose a session is: one key, or one person by one kind of token and client, in one project. */
export function ownerOf(principal: Principal): string {
  return `${callerOf(principal)}@${principal.projectId}`;
}

/** Both SDKs hand `req.auth` to their handlers as it is; `carry` and `carried` are the one place that knows what is in it. */
export function carry(req: Request, caller: Caller): void {
  const { clientId, grants } = caller.principal;
  Object.assign(req, { auth: { token: '', clientId: clientId ?? '', scopes: [...grants], extra: { caller } } });
}

export function carried(auth: { extra?: Record<string, unknown> } | undefined): Caller {
  if (!auth?.extra?.caller) throw new Error('the message came without its caller');
  return auth.extra.caller as Caller;
}
