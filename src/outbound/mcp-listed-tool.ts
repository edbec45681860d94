import { z } from 'zod';
import { isAppError } from '../base/errors.js';
import { isJsonObject, type JsonObject } from '../base/json.js';
import { answerGate, checkJson } from '../base/json-gate.js';
import { parseWithProblems } from '../base/validation.js';
import { schemaWithoutNulls, withoutNulls } from './without-nulls.js';

/** A tool as a server lists it. */
export interface ListedTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: JsonObject;
  outputSchema?: JsonObject | undefined;
  annotations?: JsonObject | undefined;
  execution?: JsonObject | undefined;
  /** Why the tool cannot be used. The other members then show what could be read. */
  problems?: string[] | undefined;
}

const Schema = z.record(z.string(), z.unknown());
const hint = z.boolean().optional();

/** The members that this product reads (MCP, Tool). Unknown ones are ignored. */
const Tool = z.object({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.looseObject({
    type: z.literal('object'),
    properties: Schema.optional(),
    required: z.array(z.string()).optional(),
  }),
  outputSchema: Schema.optional(),
  annotations: z
    .object({
      title: z.string().optional(),
      ...{ readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint, openWorldHint: hint },
    })
    .optional(),
  execution: z.object({ taskSupport: z.string().optional() }).optional(),
});

/**
 * Reads a tool. Members that are null count as absent, also in its schemas. `position` names a tool that has no name of
 * its own.
 */
export function readTool(value: unknown, position: number): ListedTool {
  const unnamed = `(tool ${position} of the list)`;
  const unsafe = jsonProblemOf(value);
  if (unsafe !== undefined) return { name: unnamed, inputSchema: {}, problems: [unsafe] };
  const members = withoutNulls(isJsonObject(value) ? value : {});
  for (const part of ['annotations', 'execution'])
    if (isJsonObject(members[part])) members[part] = withoutNulls(members[part]);
  for (const part of ['inputSchema', 'outputSchema'])
    if (isJsonObject(members[part])) members[part] = schemaWithoutNulls(members[part]);
  const parsed = parseWithProblems(Tool, isJsonObject(value) ? members : value, 'the tool');
  if ('data' in parsed) return parsed.data;
  return { ...readable(members), name: nameIn(members) ?? unnamed, problems: parsed.problems };
}

/** Why a definition cannot be stored. */
function jsonProblemOf(definition: unknown): string | undefined {
  try {
    checkJson(definition, answerGate('the definition'));
    return undefined;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return error.message;
  }
}

function nameIn({ name }: JsonObject): string | undefined {
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** The members of an odd tool that have the right type, to show them to a person. */
function readable({
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: JsonObject): Omit<ListedTool, 'name'> {
  return {
    inputSchema: isJsonObject(inputSchema) ? inputSchema : {},
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(isJsonObject(outputSchema) && { outputSchema }),
    ...(isJsonObject(annotations) && { annotations }),
  };
}
