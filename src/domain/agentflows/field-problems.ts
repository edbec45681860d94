import { isJsonObject } from '../../base/json.js';
import { syntaxProblem } from '../../prompts/template.js';
import { writtenInputs } from '../../prompts/written-variables.js';
import { CustomHeader } from '../connectors/rules/config.js';
import type { Action, SchemaField } from './record/skills.js';

/** Headers that the product sends itself, and those for credentials, which belong into the configuration of a connector. */
const reservedHeaders: ReadonlySet<string> = new Set([
  ...['accept-encoding', 'authorization', 'content-encoding', 'content-type', 'cookie', 'idempotency-key'],
  ...['proxy-authorization', 'set-cookie'],
]);

type Call = Pick<Action, 'category' | 'method' | 'endpoint' | 'input_schema' | 'output_schema'>;

/** Why the places and the own values of the fields of an action cannot be used. */
export function fieldProblems(where: string, action: Call): string[] {
  const ofInput = action.input_schema.fields.flatMap((field) => [
    ...placeProblems(action, field).map((problem) => `input_schema.fields.${field.field_id}.in: ${problem}`),
    ...valueProblems(field.value).map(
      (problem) => `input_schema.fields.${field.field_id}.value: is not a valid Liquid template: ${problem}`,
    ),
  ]);
  const ofOutput = action.output_schema.fields
    .filter((field) => field.in !== undefined || field.value !== undefined)
    .map(({ field_id }) => `output_schema.fields.${field_id}: only fields of the input have a place or a value`);
  return [...ofInput, ...ofOutput].map((problem) => `${where}.${problem}`);
}

function placeProblems({ category, method, endpoint }: Call, { field_id, in: place }: SchemaField): string[] {
  if (place === undefined) return [];
  if (category === 'mail' || category === 'mcp' || category === 'agentflow')
    return [`an action of the category ${category} has no places for fields`];
  switch (place) {
    case 'path': {
      const isWritten = syntaxProblem(endpoint) !== undefined || writtenInputs('the endpoint', endpoint).has(field_id);
      return isWritten ? [] : [`the endpoint must contain {{ ${field_id} }}`];
    }
    case 'header':
      if (!CustomHeader.safeParse(field_id).success) return ['the field_id must be the name of a header'];
      return reservedHeaders.has(field_id.toLowerCase()) ? [`the header ${field_id} must not be set by a field`] : [];
    case 'body':
      return method === 'GET' ? ['a GET has no body'] : [];
    case 'query':
      return [];
  }
}

/** The syntax errors of the templates in a value. */
function valueProblems(value: unknown): string[] {
  if (typeof value === 'string') return [syntaxProblem(value) ?? []].flat();
  const parts: unknown[] = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  return parts.flatMap(valueProblems);
}
