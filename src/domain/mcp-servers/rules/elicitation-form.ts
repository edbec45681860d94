import { z } from 'zod';
import { canonicalText } from '../../../base/json.js';
import { parseWithProblems } from '../../../base/validation.js';
import { hiddenCharacterIn } from './hidden-characters.js';

const maxMessageLength = 4000;
const maxFormLength = 32 * 1024;
const maxFields = 50;

const words = { title: z.string().optional(), description: z.string().optional() };
const count = z.int().min(0).optional();
const option = z.object({ const: z.string(), title: z.string() });
const options = { enum: z.array(z.string()).optional(), enumNames: z.array(z.string()).optional() };

/** One field of a form. Drops members that the protocol does not define. */
const Field = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('string'),
    ...words,
    ...options,
    oneOf: z.array(option).optional(),
    minLength: count,
    maxLength: count,
    format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
    default: z.string().optional(),
  }),
  z.object({
    type: z.enum(['number', 'integer']),
    ...words,
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    default: z.number().optional(),
  }),
  z.object({ type: z.literal('boolean'), ...words, default: z.boolean().optional() }),
  z.object({
    type: z.literal('array'),
    ...words,
    items: z.union([
      z.object({ anyOf: z.array(option).min(1) }),
      z.object({ type: z.literal('string'), enum: z.array(z.string()).min(1) }),
    ]),
    minItems: count,
    maxItems: count,
    default: z.array(z.string()).optional(),
  }),
]);

/** A flat object of texts, numbers, booleans and choices (MCP, elicitation). It is the JSON Schema of the answer. */
export const ElicitationForm = z.object({
  type: z.literal('object'),
  properties: z.record(z.string().min(1).max(200), Field),
  required: z.array(z.string()).optional(),
});
export type ElicitationForm = z.infer<typeof ElicitationForm>;

/** The form that a server sent, or why a person cannot be asked to fill it in. */
export function readForm(message: string, schema: unknown): { form: ElicitationForm } | { problem: string } {
  const read = ElicitationForm.safeParse(schema);
  if (!read.success) {
    const { path = [], message: why = '' } = read.error.issues[0] ?? {};
    return { problem: `requestedSchema.${path.join('.')}: ${why}` };
  }
  const form = read.data;
  if (message.length > maxMessageLength) return { problem: `message: at most ${maxMessageLength} characters` };
  if (Object.keys(form.properties).length > maxFields)
    return { problem: `requestedSchema: at most ${maxFields} fields` };
  if (canonicalText(form).length > maxFormLength)
    return { problem: `requestedSchema: at most ${maxFormLength} characters` };
  const hidden = hiddenCharacterIn({ message, form }, []);
  return hidden === undefined ? { form } : { problem: hidden };
}

/** The values, with defaults for omitted fields, or the problem with them. */
export function checkValues(
  form: ElicitationForm,
  given: Record<string, unknown>,
): { values: Record<string, unknown> } | { problem: string } {
  const fields = Object.entries(form.properties);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(form.properties, name));
  if (unknown !== undefined)
    return {
      problem: `values: the form has no field ${JSON.stringify(unknown)}; it has: ${fields.map(([name]) => name).join(', ')}`,
    };
  const values = Object.fromEntries(
    fields.flatMap(([name, field]) => {
      const value = Object.hasOwn(given, name) ? given[name] : field.default;
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );
  for (const [name, field] of fields) {
    if (!Object.hasOwn(values, name)) {
      if (form.required?.includes(name)) return { problem: `values.${name}: is required` };
      continue;
    }
    const { enumNames: _titles, ...schema } = { enumNames: undefined, ...field };
    const checked = parseWithProblems(z.object({ [name]: z.fromJSONSchema(schema) }), { [name]: values[name] });
    if ('problems' in checked) return { problem: `values.${checked.problems[0] ?? name}` };
  }
  return { values };
}
