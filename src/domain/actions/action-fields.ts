import { AppError } from '../../errors.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import type { ActionPlan, SchemaField } from '../../../workflows/agentflow-execution/messages.js';
import { hasType, isJsonObject, type JsonObject } from '../../json.js';

type Call = Pick<CallActionRequest, 'action' | 'context' | 'input'>;
type Field = Pick<SchemaField, 'field_id' | 'type' | 'required'>;

/**
 * The input of an action. Each field has the value of the first source that has one: a person's edits, the run's inputs for
 * this action, the model's arguments, the run's inputs, the execution's variables, the agent author's defaults; without a
 * model also the previous action's answer, and the goal for the field `goal`; finally the connector's defaults.
 * `own` are fields of the operation that the action calls, in addition to those of its schema.
 * @throws AppError `validation_failed` that names the field
 */
export function inputOf(call: Call, own: readonly Field[] = [], fallback: JsonObject = {}): JsonObject {
  const input = givenInputOf(call, own, fallback);
  for (const field of fieldsOf(call.action, own))
    checkField(`the input of "${call.action.name}"`, field, ownValue(input, field.field_id));
  return input;
}

/** The input as far as it is known, without checks: for a preview, before earlier actions have answered. */
export function givenInputOf(
  { action, context, input = {} }: Call,
  own: readonly Field[] = [],
  fallback: JsonObject = {},
): JsonObject {
  const { runtime_inputs, input_variables, actions, goal } = context;
  const given = [
    input.edits,
    ownValue(runtime_inputs, action._id),
    input.arguments,
    runtime_inputs,
    input_variables,
    input.defaults,
  ];
  // A model decides itself what it uses from earlier answers.
  const gathered = input.arguments ? [] : [actions.at(-1)?.output, { goal }];
  const places = [...given, ...gathered, fallback];
  const entries = fieldsOf(action, own).map(({ field_id }): [string, unknown] => [
    field_id,
    places.map((place) => ownValue(place, field_id)).find(isGiven),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => isGiven(value)));
}

/** A field of the action's own schema takes precedence over that of the operation. */
function fieldsOf({ input_schema: { fields } }: ActionPlan, own: readonly Field[]): Field[] {
  const named = new Set(fields.map(({ field_id }) => field_id));
  return [...fields, ...own.filter(({ field_id }) => !named.has(field_id))];
}

/** @throws AppError `validation_failed` if a required field of the answer is missing or a field has the wrong type */
export function checkOutput(action: ActionPlan, output: unknown): void {
  for (const field of action.output_schema.fields) {
    checkField(`the answer of "${action.name}"`, field, ownValue(output, field.field_id));
  }
}

function checkField(where: string, { field_id, type, required }: Field, value: unknown): void {
  if (isGiven(value)) {
    if (!hasType(value, type))
      throw new AppError('validation_failed', `the field "${field_id}" in ${where} must be of type ${type}`);
  } else if (required) {
    throw new AppError('validation_failed', `the field "${field_id}" is missing in ${where}`);
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function ownValue(place: unknown, key: string): unknown {
  return isJsonObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
}
