import type { Request, RequestHandler, Response, Router } from 'express';
import { defineRoute, type Route } from '../http/define-route.js';
import { jsonBody } from '../http/json-body.js';
import { expressPath, refuseOtherMethods } from '../http/mount.js';
import { traceIn } from '../http/trace.js';
import type { Pipeline } from './pipeline.js';
import { projectFields } from './stages/validate-input.js';
import type { Tool } from './tool.js';

export const workspaceHeader = 'X-Service-Workspace';
export const resumeTokenHeader = 'X-Resume-Token';

/** Mounts each tool at its route; another method there is 405 with `Allow` (specification, Conventions). */
export function mountTools(router: Router, tools: readonly Tool[], pipeline: Pipeline, requireCredential: RequestHandler): void {
  const parseBody = jsonBody('1mb');
  for (const tool of tools) {
    const { method, path } = restOf(tool);
    router[method](expressPath(path), requireCredential, ...(method === 'get' ? [] : parseBody), serve(tool, pipeline));
  }
  refuseOtherMethods(router, tools.map(restOf));
}

export function restOf(tool: Tool): { method: 'get' | 'post' | 'put'; path: string } {
  return tool.rest ?? { method: 'post', path: `/v1/${tool.name}` };
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
  const named = Object.entries(req.query).filter(([name]) => projectFields.includes(name));
  return named.length > 0 && typeof body === 'object' ? { ...body, ...Object.fromEntries(named) } : body;
}

function signalOf(res: Response): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return gone.signal;
}

/** The tools as route data, for the OpenAPI document and the route-table tests. */
export function toolRoutes(tools: readonly Tool[]): Route[] {
  return tools.map((tool) => {
    const { method, path } = restOf(tool);
    return defineRoute({
      method,
      path,
      permission: typeof tool.grant === 'function' ? 'any' : tool.grant,
      tag: 'tools',
      summary: tool.title,
      description: tool.description,
      ...(method === 'get' ? {} : { body: tool.input }),
      response: { schema: tool.output, description: 'The answer, with its `lifecycle_id`; 202 when an approval is needed first.' },
      errors: ['S2:resolve-scope', 'S3:rate-quota', 'S4:validate-input', 'S5:policy', 'S6:approval', 'data_service_unreachable', 'harness_unreachable'],
      handler: () => Promise.reject(new Error('a tool is served by the pipeline')),
    });
  });
}
