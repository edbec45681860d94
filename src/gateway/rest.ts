import type { Request, RequestHandler, Response, Router } from 'express';
import { jsonBody } from '../http/json-body.js';
import { expressPath, refuseOtherMethods } from '../http/mount.js';
import { traceIn } from '../http/trace.js';
import type { Pipeline } from './pipeline.js';
import { namesProject } from './project-fields.js';
import { routeOf, type Tool } from './tool.js';

export const workspaceHeader = 'X-Service-Workspace';
export const resumeTokenHeader = 'X-Resume-Token';

/** Mounts each tool at its route; another method there is 405 with `Allow` (specification, Conventions). */
export function mountTools(router: Router, tools: readonly Tool[], pipeline: Pipeline, requireCredential: RequestHandler): void {
  const parseBody = jsonBody('1mb');
  for (const tool of tools) {
    const { method, path } = routeOf(tool);
    router[method](expressPath(path), requireCredential, ...(method === 'get' ? [] : parseBody), serve(tool, pipeline));
  }
  refuseOtherMethods(router, tools.map(routeOf));
}

function serve(tool: Tool, pipeline: Pipeline): RequestHandler {
  return async (req, res) => {
    const answer = await pipeline({
      tool,
      input: inputOf(req),
      params: req.params as Record<string, string>,
      authorization: req.headersDistinct.authorization,
      workspace: req.get(workspaceHeader),
      resumeToken: req.get(resumeTokenHeader),
      trace: traceIn(res),
      signal: signalOf(res),
    });
    res.status(answer.status).json(answer.body);
  };
}

/** A project named in the query string is refused where one in the body is: it joins the input that S4 checks. */
function inputOf(req: Request): unknown {
  const body: unknown = req.body ?? {};
  const named = Object.entries(req.query).filter(([name]) => namesProject(name));
  return named.length > 0 && typeof body === 'object' ? { ...body, ...Object.fromEntries(named) } : body;
}

function signalOf(res: Response): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return gone.signal;
}
