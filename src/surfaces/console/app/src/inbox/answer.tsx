import type { InboxItem } from '../api.js';
import { Field as FormField, SelectField, TextField } from '../field.js';
import { numberIn } from '../number-in.js';
import type { Edits } from '../use-draft.js';

interface Choice {
  const: string;
  title?: string;
}

/** A field of the form that an MCP server sent. The API has checked its type. */
interface Field {
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  title?: string;
  description?: string;
  default?: string | number | boolean | string[];
  enum?: string[];
  enumNames?: string[];
  oneOf?: Choice[];
  items?: { enum?: string[]; anyOf?: Choice[] };
}

interface Form {
  properties: Record<string, Field>;
  required?: string[];
}

export function formOf({ kind, body }: InboxItem): Form | undefined {
  return kind === 'elicitation' ? (body.schema as Form) : undefined;
}

function choicesOf({ enum: names, enumNames = [], oneOf, items, type }: Field): Choice[] | undefined {
  if (type === 'boolean')
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
export function answersOf({ properties }: Form, drafts: Edits['drafts']): Record<string, unknown> {
  const filled = Object.entries(properties).flatMap(([name, field]) => {
    const text = current(field, drafts[name]);
    return text === '' ? [] : [[name, valueOf(field, text)] as const];
  });
  return Object.fromEntries(filled);
}

function valueOf({ type }: Field, text: string): unknown {
  if (type === 'boolean') return text === 'true';
  if (type === 'array') return text.split('\n');
  return type === 'string' ? text : numberIn(text);
}

export function AnswerFields({ form: { properties, required = [] }, edits }: { form: Form; edits: Edits }) {
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
    if (field.type !== 'array')
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
