import type { Request, RequestHandler, Response, Router } from 'express';
import { workspaceHeader } from '../../auth/resolve-scope.js';
import { jsonBody } from '../../http/json-body.js';
import { routeTable } from '../../http/route-table.js';
import { lifecycleHeader, resumeTokenHeader } from '../rest/mount.js';
import { traceIn } from '../../http/trace.js';
import { checkIdempotencyKey } from '../../governance/idempotency.js';
import type { Pipeline } from '../../governance/tools/perform-tool.js';
import { namesProject } from '../../governance/tools/project-fields.js';
import { routeOf, type Tool } from '../../governance/tools/tool.js';

/** Mounts each tool at its route. Other methods get 405 with `Allow` (specification, Conventions). */
export function mountTools(
  router: Router,
  tools: readonly Tool[],
  pipeline: Pipeline,
  checkBeforeBody: RequestHandler,
): void {
  const parseBody = jsonBody('1mb');
  const mounted = tools.map((tool) => {
    const { method, path } = routeOf(tool);
    return { method, path, handlers: [checkBeforeBody, ...(method === 'get' ? [] : parseBody), serve(tool, pipeline)] };
  });
  router.use(routeTable(mounted));
}

function serve(tool: Tool, pipeline: Pipeline): RequestHandler {
  return async (req, res) => {
    const idempotencyKey = tool.accepted && req.get('idempotency-key');
    if (idempotencyKey !== undefined) checkIdempotencyKey(idempotencyKey);
    const answer = await pipeline({
      tool,
      input: inputOf(req),
      params: req.params as Record<string, string>,
      authorization: res.locals.authorization as readonly string[] | undefined,
      workspace: req.get(workspaceHeader),
      resumeToken: req.get(resumeTokenHeader),
      idempotencyKey,
      trace: traceIn(res),
      signal: signalOf(res),
    });
    res.set(lifecycleHeader, String(answer.body.lifecycle_id));
    res.status(answer.status).json(answer.body);
  };
}

/** Adds a project in the query string to the input, so that S4 refuses it like a project in the body. */
function inputOf(req: Request): unknown {
  const body: unknown = req.body ?? {};
  const named = Object.entries(req.query).filter(([name]) => namesProject(name));
  return named.length > 0 && typeof body === 'object' ? { ...body, ...Object.fromEntries(named) } : body;
}

/** Returns a signal that aborts when the caller disconnects before the whole response is sent. */
function signalOf(res: Response): AbortSignal {
  const disconnected = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) disconnected.abort();
  });
  return disconnected.signal;
}
