import type { InboxItem } from '../api.js';
import { Field as FormField, SelectField, TextField } from '../field.js';
import { numberIn } from '../number-in.js';
import type { Edits } from '../use-draft.js';

interface Choice {
  const: string;
  title?: string;
}

/** A field of the form of a question. Fields that are no texts, numbers or choices are written as JSON. */
interface Field {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: string | number | boolean | string[];
  enum?: string[];
  enumNames?: string[];
  oneOf?: Choice[];
  items?: { enum?: string[]; anyOf?: Choice[] };
}

interface Form {
  properties?: Record<string, Field>;
  required?: string[];
}

/** The form of a question; undefined for any other item. */
export function formOf(item: InboxItem): Form | undefined {
  // A form is a JSON Schema that others wrote; fields of unknown types are written as JSON.
  return item.kind === 'elicitation' || item.kind === 'question' ? item.body.schema : undefined;
}

/** The first of several types. */
function typeOf({ type }: Field): string | undefined {
  return [type].flat()[0];
}

function choicesOf(field: Field): Choice[] | undefined {
  const { enum: names, enumNames = [], oneOf, items } = field;
  if (typeOf(field) === 'boolean')
    return [
      { const: 'true', title: 'Yes' },
      { const: 'false', title: 'No' },
    ];
  const plain = names ?? items?.enum;
  return plain?.map((name, at) => ({ const: name, title: enumNames[at] ?? name })) ?? oneOf ?? items?.anyOf;
}

function draftOf(field: Field): string {
  if (field.default === undefined) return '';
  return Array.isArray(field.default) ? field.default.join('\n') : String(field.default);
}

const current = (field: Field, draft: string | undefined) => draft ?? draftOf(field);

/** Returns the values of all fields that are not empty. */
export function answersOf({ properties = {} }: Form, drafts: Edits['drafts']): Record<string, unknown> {
  const filled = Object.entries(properties).flatMap(([name, field]) => {
    const text = current(field, drafts[name]);
    return text === '' ? [] : [[name, valueOf(field, text)] as const];
  });
  return Object.fromEntries(filled);
}

function valueOf(field: Field, text: string): unknown {
  switch (typeOf(field)) {
    case 'boolean':
      return text === 'true';
    case 'array':
      return text.split('\n');
    case 'number':
    case 'integer':
      return numberIn(text);
    case 'string':
      return text;
    default:
      return field.enum ? text : jsonIn(text);
  }
}

/** A text that is not JSON stays a text. The API says what the field wants. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function AnswerFields({ form: { properties = {}, required = [] }, edits }: { form: Form; edits: Edits }) {
  return Object.entries(properties).map(([name, field]) => {
    const text = current(field, edits.drafts[name]);
    const fieldProps = {
      name: `values.${name}`,
      label: (
        <>
          <bdi>{field.title ?? name}</bdi>
          {!required.includes(name) && ' (optional)'}
        </>
      ),
      ...(field.description !== undefined && { hint: <bdi>{field.description}</bdi> }),
    };
    const choices = choicesOf(field);
    const set = (next: string) => edits.set(name, next);
    if (!choices) return <TextField key={name} {...fieldProps} text={text} onChange={set} />;
    const options = choices.map(({ const: value, title = value }) => ({ value, name: title }));
    if (typeOf(field) !== 'array')
      return (
        <SelectField
          key={name}
          {...fieldProps}
          value={text}
          options={[{ value: '', name: '' }, ...options]}
          onChange={set}
        />
      );
    return (
      <FormField key={name} {...fieldProps}>
        {(control) => (
          <select
            {...control}
            multiple
            value={text === '' ? [] : text.split('\n')}
            onChange={({ target }) => set([...target.selectedOptions].map(({ value }) => value).join('\n'))}
          >
            {options.map(({ value, name: title }) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        )}
      </FormField>
    );
  });
}
