import type { RequestHandler } from 'express';
import { authenticateBearer } from '../auth/authenticate-bearer.js';
import { resolveScope } from '../auth/resolve-scope.js';
import type { Deps } from '../deps.js';
import { AppError } from '../errors.js';
import type { SurfaceRules } from '../http/mount.js';
import { workspaceHeader } from './rest.js';

/** The rules of the gateway's routes beside its tools: a bearer credential, in the project that the header names. */
export function gatewaySurface(deps: Deps, baseUrl: () => string): SurfaceRules {
  return {
    async authenticate(req) {
      const principal = await authenticateBearer(deps, req.headersDistinct.authorization, baseUrl());
      return resolveScope(deps, principal, req.get(workspaceHeader));
    },
    checkScope: () => undefined,
    idempotency: deps.idempotency,
    verifyResponses: deps.config.environment === 'test',
  };
}

/** Before the body is read: a call without any credential is told where to get one (RFC 9728). */
export function requireCredential(baseUrl: () => string): RequestHandler {
  return (req, _res, next) => {
    if (req.get('authorization') === undefined) {
      const metadata = `Bearer resource_metadata="${baseUrl()}/.well-known/oauth-protected-resource"`;
      throw new AppError('invalid_token', 'missing bearer credential', { headers: { 'Www-Authenticate': metadata } });
    }
    next();
  };
}
