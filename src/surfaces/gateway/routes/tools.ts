import { z } from 'zod';
import { Id, exampleId } from '../../../base/ids.js';
import type { DomainTool } from '../../../domain/operation.js';
import { tools } from '../../../domain/tools/tools.js';
import { parametersIn, placeOf, type Route, type RouteResponse } from '../../rest/define-route.js';
import { pendingApproval } from '../../rest/openapi/pending-approval.js';
import { errorDocs, toolErrors } from '../tool-errors.js';

/** The places of tools whose route is not `POST /v1/<name>`. */
const places: Readonly<Record<string, string>> = {
  'catalog-ingest': 'POST /v1/catalog/ingest',
  'get-project-mode': 'GET /v1/projects/{projectId}/mode',
  'project-mode': 'PUT /v1/projects/{projectId}/mode',
};

export function placeOfTool({ name }: Pick<DomainTool, 'name'>): string {
  return places[name] ?? `POST /v1/${name}`;
}

/** What the tool `docs` says about the tools. */
export const reference = { tools: tools.map((tool) => ({ tool, route: placeOfTool(tool) })), errors: errorDocs };

/** Schemas with the lifecycle, by the output of a tool. Tools can share an output and its name. */
const governed = new Map<z.ZodType, z.ZodType>();

const DryRun = z
  .object({
    lifecycle_id: Id,
    dry_run: z.literal(true),
    would: z.record(z.string(), z.unknown()).meta({ example: { start: { name: 'Claims desk', version: 3 } } }),
  })
  .meta({ id: 'DryRun' });

/** The tools of the gateway as routes. */
export const toolRoutes: readonly Route[] = tools.map((tool) => {
  const { method, path } = placeOf(placeOfTool(tool));
  const [first, ...others] = tool.cases.map(({ operation }) => operation);
  if (!first) throw new Error(`${tool.name} has no operation`);
  const isSame = others.every(({ grant, right }) => grant === first.grant && right === first.right);
  return {
    tool,
    method,
    path,
    tag: 'tools',
    summary: tool.title,
    description: tool.description,
    permission: isSame ? first.grant : 'any',
    ...(isSame && { right: first.right, adminOnly: first.adminOnly }),
    repeatable: tool.hints.idempotent,
    ...(tool.accepted && { idempotent: true }),
    ...(parametersIn(path).length > 0 && first.key && { params: first.key }),
    ...(method === 'get' ? {} : { body: bodyOf(tool.input) }),
    response: responseOf(tool, method === 'get'),
    errors: toolErrors,
  };
});

function responseOf(tool: DomainTool, isRead: boolean): RouteResponse<never> & { schema: z.ZodType } {
  if (tool.accepted)
    return {
      status: 202,
      schema: z.union([withLifecycle(tool.output), pendingApproval.schema]),
      description: `The work has started. ${pendingApproval.description}`,
      others: { 200: { schema: DryRun, description: 'With `dry_run`: what would be done.' } },
    };
  const whole = withLifecycle(tool.output);
  return {
    // GET has no body, so it has no dry run.
    schema: isRead ? whole : z.union([whole, DryRun]),
    description: 'The result, or with `dry_run` what would be done.',
    others: { 202: pendingApproval },
  };
}

function withLifecycle(output: z.ZodType): z.ZodType {
  if (!(output instanceof z.ZodObject)) return output;
  const known = governed.get(output);
  if (known) return known;
  const { example, ...meta } = output.meta() ?? {};
  const whole = output
    .safeExtend({ lifecycle_id: Id })
    .meta({ ...meta, ...(example !== undefined && { example: { ...example, lifecycle_id: exampleId } }) });
  governed.set(output, whole);
  return whole;
}

/** All tools accept `dry_run`. */
function bodyOf(input: z.ZodType): z.ZodType {
  if (!(input instanceof z.ZodObject)) return input;
  const { id, ...meta } = input.meta() ?? {};
  const body = input.safeExtend({
    dry_run: z.boolean().optional().describe('Stop at S7 and report what would be done.'),
  });
  // This schema has its own name because the platform may use the same record without `dry_run`.
  return body.meta({ ...meta, ...(id !== undefined && { id: `${id}Call` }) });
}
