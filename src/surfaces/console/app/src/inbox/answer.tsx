import type { InboxItem } from '../api.js';
import type { Edits } from '../parts.js';

interface Choice {
  const: string;
  title?: string;
}

/** One field of the form that an MCP server sent. The API has checked its type. */
interface Field {
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  title?: string;
  description?: string;
  default?: string | number | boolean | string[];
  format?: 'email' | 'uri' | 'date' | 'date-time';
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  enum?: string[];
  enumNames?: string[];
  oneOf?: Choice[];
  items?: { enum?: string[]; anyOf?: Choice[] };
}

export interface Form {
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

/** What a field has before the person changes it. */
function draftOf(field: Field): string {
  if (field.default === undefined) return '';
  return Array.isArray(field.default) ? field.default.join('\n') : String(field.default);
}

const current = (field: Field, draft: string | undefined) => draft ?? draftOf(field);

/** The values of all fields that are not empty. */
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
  return type === 'string' ? text : Number(text);
}

const inputTypes = { email: 'email', uri: 'url', date: 'date', 'date-time': 'text' } as const;

export function AnswerFields({ form: { properties, required = [] }, edits }: { form: Form; edits: Edits }) {
  return (
    <>
      {Object.entries(properties).map(([name, field]) => (
        <label key={name}>
          <bdi>{field.title ?? name}</bdi>
          {!required.includes(name) && ' (optional)'}
          {field.description !== undefined && (
            <span className="soft">
              {' '}
              <bdi>{field.description}</bdi>
            </span>
          )}
          <AnswerField
            field={field}
            isRequired={required.includes(name)}
            text={current(field, edits.drafts[name])}
            onText={(text) => edits.set(name, text)}
          />
        </label>
      ))}
    </>
  );
}

interface AnswerFieldOptions {
  field: Field;
  isRequired: boolean;
  text: string;
  onText: (text: string) => void;
}

function AnswerField({ field, isRequired, text, onText }: AnswerFieldOptions) {
  const choices = choicesOf(field);
  const { type, format, minLength, maxLength, minimum, maximum } = field;
  if (choices && type === 'array')
    return (
      <select
        multiple
        value={text === '' ? [] : text.split('\n')}
        onChange={({ target }) => onText([...target.selectedOptions].map(({ value }) => value).join('\n'))}
      >
        <Choices choices={choices} />
      </select>
    );
  if (choices)
    return (
      <select required={isRequired} value={text} onChange={({ target }) => onText(target.value)}>
        <option value="" />
        <Choices choices={choices} />
      </select>
    );
  const onChange = ({ target }: { target: { value: string } }) => onText(target.value);
  if (type === 'string')
    return (
      <input
        type={format ? inputTypes[format] : 'text'}
        {...{ minLength, maxLength, onChange }}
        required={isRequired}
        value={text}
        autoComplete="off"
      />
    );
  return (
    <input
      type="number"
      step={type === 'integer' ? 1 : 'any'}
      min={minimum}
      max={maximum}
      required={isRequired}
      value={text}
      onChange={onChange}
    />
  );
}

function Choices({ choices }: { choices: Choice[] }) {
  return choices.map(({ const: value, title }) => (
    <option key={value} value={value}>
      {title ?? value}
    </option>
  ));
}
