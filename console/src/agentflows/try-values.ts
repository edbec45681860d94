import { validationError } from '../api.js';
import { pointersOf } from '../flow/pointers.js';
import { idOf, isFields, nodesOf, text, type Fields, type FlowDocument } from './document.js';
import { namesAt, namesInPart } from './nodes.js';
import { rowsOf } from './schema-rows.js';

/** What a step that is tried alone gets instead of what would have run before it. */
export interface TryValues {
  inputs: Fields;
  outputs: Fields;
  names: Fields;
}

const emptyValues: Readonly<Record<string, unknown>> = { number: 0, integer: 0, boolean: false, array: [], object: {} };

/** Returns the inputs that the schema has, with its examples, and the variables that the agents declare, with empty values. */
export function exampleInputs({ input_schema }: FlowDocument, agents: readonly Fields[]): Fields {
  const typed = (rowsOf(input_schema) ?? []).map(({ name, schema }) => [name, exampleOf(schema)] as const);
  const declared = agents.flatMap(({ prompt }) => {
    const variables: unknown = isFields(prompt) ? prompt.variables : undefined;
    return Array.isArray(variables) ? (variables as unknown[]).map(text) : [];
  });
  const untyped = declared.filter((name) => name !== '' && name !== 'goal').map((name) => [name, ''] as const);
  return Object.fromEntries([...untyped, ...typed]);
}

/** The default or the first example of a schema, otherwise an empty value of its type. */
function exampleOf(schema: Fields): unknown {
  const [example] = Array.isArray(schema.examples) ? (schema.examples as unknown[]) : [];
  return schema.default ?? example ?? emptyValues[text(schema.type)] ?? '';
}

/** Returns what the step reads, with empty values. */
export function exampleValues(document: FlowDocument, step: Fields): TryValues {
  const names = partNamesAt(document, step);
  const inputs = Object.entries(exampleInputs(document, [step])).filter(([name]) => !names.includes(name));
  return {
    inputs: Object.fromEntries(inputs),
    outputs: Object.fromEntries(outputsReadBy(document, step).map((id) => [id, null])),
    names: Object.fromEntries(names.map((name) => [name, name === 'index' ? 0 : null])),
  };
}

/** The names that the parts around the step add. */
export function partNamesAt(document: FlowDocument, step: Fields): string[] {
  const ofParts = new Set(nodesOf(document).flatMap(namesInPart));
  return namesAt(document, idOf(step)).filter((name) => ofParts.has(name));
}

/** The agents and steps whose outputs the step names. An agent also gets that of the node before it. */
export function outputsReadBy(document: FlowDocument, step: Fields): string[] {
  const named = JSON.stringify(step).matchAll(/outputs(?:_by_id)?(?:\.\??(\w+)|\[\??\\?["']([^"'\\]+))/g);
  const ids = new Set([...named].map(([, one, other]) => one ?? other));
  return nodesOf(document)
    .filter((node) => node !== step && (ids.has(idOf(node)) || (step.type === undefined && leadsTo(node, step))))
    .map(idOf);
}

function leadsTo(node: Fields, step: Fields): boolean {
  return pointersOf(node).some(({ to, isPart }) => to === idOf(step) && isPart !== true);
}

/** Returns the object that the person typed as JSON. */
export function fieldsIn(name: string, typed: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(typed);
  } catch (error) {
    throw validationError(name, `must be valid JSON: ${error instanceof Error ? error.message : ''}`);
  }
  if (!isFields(value)) throw validationError(name, 'must be a JSON object');
  return value;
}
