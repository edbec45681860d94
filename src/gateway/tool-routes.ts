import { z } from 'zod';
import { defineRoute, type Route } from '../http/define-route.js';
import { pathParameters, routeOf, type Tool } from './tool.js';

/** The tools as route data, for the OpenAPI document and the route-table tests. */
export function toolRoutes(tools: readonly Tool[]): Route[] {
  const governed = new Map<z.ZodType, z.ZodType>();
  return tools.map((tool) => {
    const { method, path } = routeOf(tool);
    return defineRoute({
      method,
      path,
      permission: typeof tool.grant === 'function' ? 'any' : tool.grant,
      tag: 'tools',
      summary: tool.title,
      description: tool.description,
      ...(method === 'get' ? {} : { body: bodyOf(tool) }),
      response: { schema: answerOf(tool, governed), description: 'What was done, or with `dry_run` what would be.', others: { 202: pendingApproval } },
      errors: [...stageErrors],
      handler: () => Promise.reject(new Error('a tool is served by the pipeline')),
    });
  });
}

const pendingApproval = {
  description: 'A policy wants an approval first; then repeat the call with its resume token.',
  schema: z
    .object({ lifecycle_id: z.string(), status: z.literal('pending_approval'), approval_id: z.string(), expires_at: z.number() })
    .meta({ id: 'PendingApproval' }),
};

/** The pipeline adds the lifecycle; a GET has no body to ask for a dry run with. Tools of one output share its name. */
function answerOf(tool: Tool, governed: Map<z.ZodType, z.ZodType>): z.ZodType {
  const { output } = tool;
  const whole = governed.get(output) ?? withLifecycle(output);
  governed.set(output, whole);
  return routeOf(tool).method === 'get' ? whole : z.union([whole, DryRun]);
}

function withLifecycle(output: z.ZodType): z.ZodType {
  if (!(output instanceof z.ZodObject)) return output;
  const { example, ...meta } = output.meta() ?? {};
  const whole = output.safeExtend({ lifecycle_id: z.string() });
  return whole.meta({ ...meta, ...(example !== undefined && { example: { ...example, lifecycle_id: exampleLifecycle } }) });
}

const exampleLifecycle = '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10';

const DryRun = z
  .object({ lifecycle_id: z.string(), dry_run: z.literal(true), would: z.record(z.string(), z.unknown()).meta({ example: { start: { name: 'Claims desk', version: 3 } } }) })
  .meta({ id: 'DryRun' });

/** What the pipeline can refuse with, stage by stage, and what tools meet in S8. */
const stageErrors = [
  ...(['S2:resolve-scope', 'S3:rate-quota', 'S4:validate-input', 'S5:policy', 'S6:approval', 'S7:dry-run', 'S8:execute'] as const),
  ...(['not_found', 'conflict', 'payload_too_large', 'validation_failed', 'plan_limit', 'data_service_unreachable', 'harness_unreachable'] as const),
  { code: 'S8:execute', status: 504 },
] as const;

/** What a tool's path names is not in its body; `dry_run` is taken by all. */
function bodyOf(tool: Tool): z.ZodType {
  const { input } = tool;
  if (!(input instanceof z.ZodObject)) return input;
  const inPath: { [name in string]: true } = Object.fromEntries(pathParameters(tool).map((name) => [name, true as const]));
  const fields: z.ZodObject = Object.keys(inPath).length > 0 ? input.omit(inPath) : input;
  const { id, ...meta } = input.meta() ?? {};
  const body = fields.safeExtend({ dry_run: z.boolean().optional().meta({ description: 'Go as far as S7 and say what would be done.' }) });
  // A name of its own: the platform may take the same record without `dry_run`.
  return body.meta({ ...meta, ...(id !== undefined && { id: `${id}Call` }) });
}
