import { z } from 'zod';
import { toAppError } from '../../http/errors.js';
import { validate } from '../../base/validation.js';

const Meta = z.looseObject({ progressToken: z.union([z.string(), z.int()]).optional() }).optional();
const Uri = z.looseObject({ _meta: Meta, uri: z.string() });
const TaskId = z.looseObject({ _meta: Meta, taskId: z.string() });
/** Each list has one page, so the server issues no cursors. */
const FirstPage = z
  .looseObject({ _meta: Meta, cursor: z.undefined('is not a cursor of this list').optional() })
  .optional();

/** The parameters of each method. Both SDKs would refuse invalid ones with a dump of their own schema. */
const params: Readonly<Record<string, z.ZodType>> = {
  'tools/call': z.looseObject({
    _meta: Meta,
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    task: z.looseObject({ ttl: z.number().nullable().optional() }).optional(),
  }),
  'prompts/get': z.looseObject({
    _meta: Meta,
    name: z.string(),
    arguments: z.record(z.string(), z.string()).optional(),
  }),
  'tools/list': FirstPage,
  'prompts/list': FirstPage,
  'resources/list': FirstPage,
  'resources/templates/list': FirstPage,
  'resources/read': Uri,
  'resources/subscribe': Uri,
  'resources/unsubscribe': Uri,
  'tasks/get': TaskId,
  'tasks/result': TaskId,
  'tasks/cancel': TaskId,
  'tasks/update': TaskId.extend({ inputResponses: z.record(z.string(), z.unknown()) }),
};

const Request = z.looseObject({
  id: z.union([z.string(), z.number()]),
  method: z.string(),
  params: z.unknown().optional(),
});

/**
 * Describes the problem with a request's parameters. Returns undefined for a valid request and for other messages.
 * @param unknown methods that the revision of the request does not have, which are refused as unknown instead
 */
export function malformed(
  message: unknown,
  unknown: ReadonlySet<string> = new Set(),
): { id: string | number; problem: string } | undefined {
  const request = Request.safeParse(message);
  if (!request.success || unknown.has(request.data.method)) return undefined;
  const schema = Object.hasOwn(params, request.data.method) ? params[request.data.method] : undefined;
  if (!schema) return undefined;
  try {
    validate(schema, request.data.params, 'invalid_request');
    return undefined;
  } catch (error) {
    return { id: request.data.id, problem: `${request.data.method}: ${toAppError(error).message}` };
  }
}
