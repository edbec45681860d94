import { z } from 'zod';
import { defineRoute, type Route, type RouteResponse } from '../rest/define-route.js';
import { pendingApproval } from '../rest/openapi/pending-approval.js';
import { pathParameters, routeOf, type Tool } from '../../governance/tools/tool.js';
import { toolErrors } from './tool-errors.js';
import { Id, exampleId } from '../../base/ids.js';

/** Returns the tools as route data, for the OpenAPI document and the route-table tests. */
export function toolRoutes(tools: readonly Tool[]): Route[] {
  const governed = new Map<z.ZodType, z.ZodType>();
  return tools.map((tool) => {
    const { method, path } = routeOf(tool);
    const { grant, right, adminOnly } = tool.operation;
    return defineRoute({
      method,
      path,
      permission: typeof grant === 'function' ? 'any' : grant,
      right: typeof right === 'function' ? undefined : right,
      adminOnly,
      tag: 'tools',
      summary: tool.title,
      description: tool.description,
      repeatable: tool.hints.idempotent,
      ...(tool.accepted && { idempotent: true }),
      ...(method === 'get' ? {} : { body: bodyOf(tool) }),
      response: responseOf(tool, governed),
      errors: toolErrors,
      handler: () => Promise.reject(new Error('a tool is served by the pipeline')),
    });
  });
}

function responseOf(tool: Tool, governed: Map<z.ZodType, z.ZodType>): RouteResponse<never> & { schema: z.ZodType } {
  if (tool.accepted)
    return {
      status: 202,
      schema: z.union([withLifecycle(tool.output), pendingApproval.schema]),
      description: `The work has started. ${pendingApproval.description}`,
      others: { 200: { schema: DryRun, description: 'With `dry_run`: what would be done.' } },
    };
  return {
    schema: answerOf(tool, governed),
    description: 'The result, or with `dry_run` what would be done.',
    others: { 202: pendingApproval },
  };
}

/** Adds the lifecycle, and the dry run except for GET, which has no body. Tools can share an output and its name. */
function answerOf(tool: Tool, governed: Map<z.ZodType, z.ZodType>): z.ZodType {
  const { output } = tool;
  const whole = governed.get(output) ?? withLifecycle(output);
  governed.set(output, whole);
  return routeOf(tool).method === 'get' ? whole : z.union([whole, DryRun]);
}

function withLifecycle(output: z.ZodType): z.ZodType {
  if (!(output instanceof z.ZodObject)) return output;
  const { example, ...meta } = output.meta() ?? {};
  const whole = output.safeExtend({ lifecycle_id: Id });
  return whole.meta({ ...meta, ...(example !== undefined && { example: { ...example, lifecycle_id: exampleId } }) });
}

const DryRun = z
  .object({
    lifecycle_id: Id,
    dry_run: z.literal(true),
    would: z.record(z.string(), z.unknown()).meta({ example: { start: { name: 'Claims desk', version: 3 } } }),
  })
  .meta({ id: 'DryRun' });

/** Returns the body schema without the parameters of the path. All tools accept `dry_run`. */
function bodyOf(tool: Tool): z.ZodType {
  const { input } = tool;
  if (!(input instanceof z.ZodObject)) return input;
  const inPath: { [name in string]: true } = Object.fromEntries(
    pathParameters(tool).map((name) => [name, true as const]),
  );
  const fields: z.ZodObject = Object.keys(inPath).length > 0 ? input.omit(inPath) : input;
  const { id, ...meta } = input.meta() ?? {};
  const body = fields.safeExtend({
    dry_run: z.boolean().optional().describe('Stop at S7 and report what would be done.'),
  });
  // This schema has its own name because the platform may use the same record without `dry_run`.
  return body.meta({ ...meta, ...(id !== undefined && { id: `${id}Call` }) });
}
