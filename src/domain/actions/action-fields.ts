import { AppError } from '../../base/errors.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import type { ActionPlan } from '../../../workflows/agentflow-execution/messages.js';
import { hasOwnValue, type SchemaField } from '../../../workflows/agentflow-execution/schema-field.js';
import { hasType, isJsonObject, type JsonObject } from '../../base/json.js';
import { variablesOf } from '../../prompts/variables.js';
import { renderValue } from './templates.js';

type Call = Pick<CallActionRequest, 'action' | 'context' | 'input'>;
type Field = Pick<SchemaField, 'field_id' | 'type' | 'required' | 'in' | 'value'>;
type Render = typeof renderValue;

/**
 * The input of an action. Each field has the value of the first source that has one: a person's edits, the field's own value,
 * the run's inputs for this action, the model's arguments, the run's inputs, the execution's variables, the agent author's
 * defaults; without a model also the previous action's answer, and the goal for the field `goal`; finally the connector's
 * defaults. A field with a value of its own has no other source than edits.
 * `own` are fields of the operation that the action calls, in addition to those of its schema.
 * @throws AppError `validation_failed` that names the field
 */
export function inputOf(call: Call, own: readonly Field[] = [], fallback: JsonObject = {}): JsonObject {
  const input = filledInput(call, renderValue, own, fallback);
  for (const field of fieldsOf(call.action, own))
    checkField(`the input of "${call.action.name}"`, field, ownValue(input, field.field_id));
  return input;
}

/**
 * The input as far as it is known, without checks: for a preview, before earlier actions have answered. A template that needs
 * such an answer stays as it is.
 */
export function givenInputOf(call: Call): JsonObject {
  return filledInput(call, (what, value, options) => {
    try {
      return renderValue(what, value, options);
    } catch {
      return value;
    }
  });
}

function filledInput(call: Call, render: Render, own: readonly Field[] = [], fallback: JsonObject = {}): JsonObject {
  const { action, context, input = {} } = call;
  const { runtime_inputs, input_variables, actions, goal } = context;
  const fields = fieldsOf(action, own);
  const places = [input.edits, ownValue(runtime_inputs, action._id), input.arguments, runtime_inputs, input_variables];
  const given = fromPlaces(fields, (field) => (hasOwnValue(field) ? [input.edits] : places));
  const variables = templateVariables(call, given);
  const written = (field: Field) => (hasOwnValue(field) ? field.value : ownValue(input.defaults, field.field_id));
  const rendered = fields.flatMap((field): [string, unknown][] => {
    const value = Object.hasOwn(given, field.field_id) ? undefined : written(field);
    const what = `the value of "${field.field_id}" in "${action.name}"`;
    return isGiven(value) ? [[field.field_id, render(what, value, { type: field.type, variables })]] : [];
  });
  const known = { ...given, ...Object.fromEntries(rendered) };
  // A model decides itself what it uses from earlier answers.
  const gathered = input.arguments ? [] : [actions.at(-1)?.output, { goal }];
  return fromPlaces(fields, (field) => (hasOwnValue(field) ? [known] : [known, ...gathered, fallback]));
}

function fromPlaces(fields: readonly Field[], placesOf: (field: Field) => readonly unknown[]): JsonObject {
  const entries = fields.map((field): [string, unknown] => [
    field.field_id,
    placesOf(field)
      .map((place) => ownValue(place, field.field_id))
      .find(isGiven),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => isGiven(value)));
}

/**
 * The variables of the templates of an action: those of the run, and the fields that a model, a person or the author of the
 * action fills.
 */
export function templateVariables({ action, context, input }: Call, filled: JsonObject): Record<string, unknown> {
  const byAuthor = action.input_schema.fields.filter((field) => field.in !== undefined || hasOwnValue(field));
  const names = new Set(byAuthor.map(({ field_id }) => field_id));
  const own = Object.fromEntries(Object.entries(filled).filter(([name]) => input?.arguments || names.has(name)));
  return variablesOf({ ...context, input_variables: { ...context.input_variables, ...own, ...input?.edits } });
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

function checkField(
  where: string,
  { field_id, type, required }: Pick<Field, 'field_id' | 'type' | 'required'>,
  value: unknown,
): void {
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
