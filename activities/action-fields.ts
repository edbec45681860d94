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

type InputRequest = Pick<CallActionRequest, 'action' | 'context' | 'input'>;

/**
 * The input of an action, field by field from the first place that has a value: a person's edits, the run's inputs
 * for this action, the model's arguments, the run's inputs, the execution's variables, the agent author's defaults;
 * without a model also the answer of the action before, and for `goal` the goal itself.
 * @throws AppError `validation_failed` that names the field
 */
export function inputOf(request: InputRequest): JsonObject {
  const { action } = request;
  const input = givenInputOf(request);
  for (const field of action.input_schema.fields) refuseWrong(`the input of "${action.name}"`, field, input[field.field_id]);
  return input;
}

/** The same as far as it is known, and unchecked: for a preview, before earlier actions have answered. */
export function givenInputOf({ action, context, input = {} }: InputRequest): JsonObject {
  const { runtime_inputs, input_variables, actions, goal } = context;
  const given = [input.edits, ownValue(runtime_inputs, action._id), input.arguments, runtime_inputs, input_variables, input.defaults];
  // A model says itself what it takes over from earlier answers.
  const places = input.arguments ? given : [...given, actions.at(-1)?.output, { goal }];
  const entries = action.input_schema.fields.map(({ field_id }): [string, unknown] => [
    field_id,
    places.map((place) => ownValue(place, field_id)).find(isGiven),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => isGiven(value)));
}

/** @throws AppError `validation_failed` when an answer lacks a required field or has one of a wrong type */
export function checkOutput(action: ActionPlan, output: unknown): void {
  for (const field of action.output_schema.fields) {
    refuseWrong(`the answer of "${action.name}"`, field, ownValue(output, field.field_id));
  }
}

function refuseWrong(where: string, { field_id, type, required }: SchemaField, value: unknown): void {
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
