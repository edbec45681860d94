import { AppError } from '../src/errors.js';
import type { CallActionRequest } from '../workflows/agentflow-execution/activities.js';
import type { ActionPlan, SchemaField } from '../workflows/agentflow-execution/messages.js';

type JsonObject = Record<string, unknown>;

/** Types that are checked; a field of another type takes any value. */
const checks = new Map<string, (value: unknown) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => Number.isInteger(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['object', isObject],
  ['array', Array.isArray],
]);

type Call = Pick<CallActionRequest, 'action' | 'context' | 'input'>;
type Field = Pick<SchemaField, 'field_id' | 'type' | 'required'>;

/**
 * The input of an action, field by field from the first place that has a value: a person's edits, the run's inputs
 * for this action, the model's arguments, the run's inputs, the execution's variables, the agent author's defaults;
 * without a model also the answer of the action before, and for `goal` the goal itself; at last the connector's defaults.
 * `own` are the fields of the operation that it calls, beside those of its schema.
 * @throws AppError `validation_failed` that names the field
 */
export function inputOf(call: Call, own: readonly Field[] = [], fallback: JsonObject = {}): JsonObject {
  const input = givenInputOf(call, own, fallback);
  for (const field of fieldsOf(call.action, own)) refuseWrong(`the input of "${call.action.name}"`, field, input[field.field_id]);
  return input;
}

/** The same as far as it is known, and unchecked: for a preview, before earlier actions have answered. */
export function givenInputOf({ action, context, input = {} }: Call, own: readonly Field[] = [], fallback: JsonObject = {}): JsonObject {
  const { runtime_inputs, input_variables, actions, goal } = context;
  const given = [input.edits, ownValue(runtime_inputs, action._id), input.arguments, runtime_inputs, input_variables, input.defaults];
  // A model says itself what it takes over from earlier answers.
  const gathered = input.arguments ? [] : [actions.at(-1)?.output, { goal }];
  const places = [...given, ...gathered, fallback];
  const entries = fieldsOf(action, own).map(({ field_id }): [string, unknown] => [
    field_id,
    places.map((place) => ownValue(place, field_id)).find(isGiven),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => isGiven(value)));
}

/** An action's own schema says more of a field than the operation that it calls. */
function fieldsOf({ input_schema: { fields } }: ActionPlan, own: readonly Field[]): Field[] {
  const named = new Set(fields.map(({ field_id }) => field_id));
  return [...fields, ...own.filter(({ field_id }) => !named.has(field_id))];
}

/** @throws AppError `validation_failed` when an answer lacks a required field or has one of a wrong type */
export function checkOutput(action: ActionPlan, output: unknown): void {
  for (const field of action.output_schema.fields) {
    refuseWrong(`the answer of "${action.name}"`, field, ownValue(output, field.field_id));
  }
}

function refuseWrong(where: string, { field_id, type, required }: Field, value: unknown): void {
  if (isGiven(value)) {
    const isRight = checks.get(type.toLowerCase()) ?? (() => true);
    if (!isRight(value)) throw new AppError('validation_failed', `the field "${field_id}" in ${where} must be of type ${type}`);
  } else if (required) {
    throw new AppError('validation_failed', `the field "${field_id}" is missing in ${where}`);
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function ownValue(place: unknown, key: string): unknown {
  return isObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
}
