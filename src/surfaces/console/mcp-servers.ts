import type { RequestHandler } from 'express';
import type { Principal } from '../../auth/principal.js';
import { scopeOn } from '../../auth/resolve-scope.js';
import { completeMcpAuthorization } from '../../domain/mcp-servers/operations.js';
import { findRequest } from '../../domain/mcp-servers/operations/authorize.js';
import { AppError } from '../../base/errors.js';
import { traceIn } from '../../http/trace.js';
import { validate } from '../../base/validation.js';
import { principalOf } from '../browser/console-session.js';
import { html } from '../browser/html.js';
import { layout } from '../browser/layout.js';
import { sendPage } from '../browser/send-page.js';
import { performOperation } from '../../governance/kernel/perform-operation.js';
import { queryOf, type ConsoleDeps, type PersonVisit } from './visit.js';

/** Completes the authorization that this person began. The authorization server redirects the person to this page. */
export function showMcpAuthorized(consoleDeps: ConsoleDeps): RequestHandler {
  return async (req, res) => {
    const { person } = res.locals.visit as PersonVisit;
    const [state = '', code, iss, error] = ['state', 'code', 'iss', 'error'].map((name) => queryOf(req, name));
    const request = await findRequest(consoleDeps.deps, state, person.userId);
    const principal = request && (await scopeOn(consoleDeps.deps, principalOf(person), request.project_id));
    if (!principal)
      throw new AppError(
        'not_found',
        'this authorization was used, has expired, or was started by another person: start it again',
      );
    const { connector_id } = request;
    await complete(
      consoleDeps,
      { principal, traceId: traceIn(res).traceId, connector_id },
      { state, code, iss, error },
    );
    sendPage(
      res,
      layout(
        'The MCP server is authorized',
        html`<h1>The MCP server is authorized</h1>
<p>Runs can use it now. You can close this page.</p>
<p><a href="/console">Continue to the console</a></p>`,
      ),
    );
  };
}

/** @throws AppError like the operation, and `approval_refused` if a policy holds it */
async function complete(
  { deps, baseUrl }: ConsoleDeps,
  { principal, traceId, connector_id }: { principal: Principal; traceId: string; connector_id: string },
  response: Record<string, string | undefined>,
): Promise<void> {
  const operation = completeMcpAuthorization;
  const parameters = Object.fromEntries(Object.entries(response).filter(([, value]) => value !== undefined));
  const input = validate(operation.input, parameters, 'invalid_request');
  const outcome = await performOperation({
    ...{ entrance: 'page', operation, deps, traceId, signal: deps.stopping.signal, baseUrl: baseUrl() },
    authenticate: async () => principal,
    key: () => ({ connector_id }),
    read: async () => input,
  });
  if ('error' in outcome) throw outcome.error;
  if (!outcome.held) return;
  const { approval_id: id } = outcome.value as { approval_id: string };
  throw new AppError(
    'approval_refused',
    `another person must approve this first, because a policy requires it (approval ${id}): repeat it once it is approved`,
  );
}
