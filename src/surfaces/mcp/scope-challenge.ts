import type { RequestHandler } from 'express';
import { AppError } from '../../base/errors.js';
import { missingScope } from '../../auth/require-grant.js';
import { metadataFor, type Caller } from './caller.js';
import type { Content } from './content.js';

/**
 * Refuses a call of an OAuth client without the required scope with HTTP 403 `insufficient_scope`, so that the client
 * asks its user for the scope (MCP authorization, step-up). The pipeline refuses the call first, so that it is
 * recorded.
 */
export function challengeScopes(content: Content, baseUrl: () => string): RequestHandler {
  return async (req, res, next) => {
    const caller = res.locals.caller as Caller;
    const messages: unknown[] = caller.principal.clientId === undefined ? [] : [req.body].flat();
    for (const message of messages) {
      const call = content.governedBy(message);
      const missing = call && missingFor(call, caller);
      if (!missing) continue;
      const { body } = await content.govern(call.tool, call.input, {
        caller,
        signal: new AbortController().signal,
        progress: undefined,
        resume: {},
      });
      const lifecycleId = typeof body.lifecycle_id === 'string' ? { lifecycleId: body.lifecycle_id } : {};
      throw new AppError('scope_denied', String(body.error_description), {
        ...missing,
        resourceMetadata: metadataFor(baseUrl(), req),
        ...lifecycleId,
      });
    }
    next();
  };
}

function missingFor(call: NonNullable<ReturnType<Content['governedBy']>>, { principal }: Caller) {
  const { grant } = call.tool.caseOf(call.input).operation;
  return grant === 'any' || principal.grants.includes(grant) ? undefined : missingScope(principal, grant);
}
