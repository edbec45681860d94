import type { RequestHandler } from 'express';
import { scopeOn } from '../../auth/resolve-scope.js';
import { findRequest } from '../../domain/mcp-servers/operations/authorize.js';
import { AppError } from '../../errors.js';
import { principalOf } from '../browser/console-session.js';
import { html } from '../browser/html.js';
import { layout } from '../browser/layout.js';
import { sendPage } from '../browser/send-page.js';
import { queryOf, type ConsoleDeps, type PersonVisit } from './visit.js';

/** Where an authorization server sends a person back to. Completes what this person began. */
export function showMcpAuthorized({ deps, api }: ConsoleDeps): RequestHandler {
  return async (req, res) => {
    const { person } = res.locals.visit as PersonVisit;
    const state = queryOf(req, 'state') ?? '';
    const request = await findRequest(deps, state, person.userId);
    const principal = request && (await scopeOn(deps, principalOf(person), request.project_id));
    if (!principal)
      throw new AppError(
        'not_found',
        'this authorization was used, expired, or was begun by another person: begin it again',
      );
    const answer = ['code', 'iss', 'error'].flatMap((name) => {
      const value = queryOf(req, name);
      return value === undefined ? [] : [[name, value] as const];
    });
    await api.call('post', '/connectors/{projectID}/{connector_id}/authorize/complete', {
      ...{ principal, req, res },
      params: { projectID: request.project_id, connector_id: request.connector_id },
      body: { state, ...Object.fromEntries(answer) },
    });
    sendPage(
      res,
      layout(
        'The MCP server is authorized',
        html`<h1>The MCP server is authorized</h1>
<p>Runs can use it now. You can close this page.</p>
<p><a href="/console">Go on to the console</a></p>`,
      ),
    );
  };
}
