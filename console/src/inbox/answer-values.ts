import { numberIn } from '../number-in.js';
import type { Edits } from '../use-draft.js';

/** The JSON Schema of a field of a form, which others wrote. */
export interface Field {
  type?: string | string[];
  title?: string;
  description?: string;
  format?: string;
  maxLength?: number;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  enumNames?: string[];
  oneOf?: Field[];
  anyOf?: Field[];
  items?: Field;
  properties?: Record<string, Field>;
}

export interface Form {
  properties?: Record<string, Field>;
  required?: string[];
}

interface Choice {
  value: unknown;
  name: string;
}

/** How a person writes the value of a field. */
export type Kind = 'choice' | 'choices' | 'lines' | 'number' | 'text' | 'json' | 'any';

/** A null is written by leaving the field empty. */
const typeOf = ({ type }: Field): string | undefined => [type].flat().find((each) => each !== 'null');

/** Returns the only values that a field can have; undefined if it can have others. */
export function choicesOf(field: Field): readonly Choice[] | undefined {
  if (typeOf(field) === 'boolean')
    return [
      { value: true, name: 'Yes' },
      { value: false, name: 'No' },
    ];
  const { enumNames = [], oneOf, anyOf, items } = field;
  if (typeOf(field) === 'array') return items && choicesOf(items);
  if (field.enum) return field.enum.map((value, at) => ({ value, name: enumNames[at] ?? textOf(value) }));
  if (field.const !== undefined) return [{ value: field.const, name: field.title ?? textOf(field.const) }];
  const each = oneOf ?? anyOf;
  if (!each?.every((one) => one.const !== undefined)) return undefined;
  return each.map(({ const: value, title }) => ({ value, name: title ?? textOf(value) }));
}

export function kindOf(field: Field): Kind {
  const type = typeOf(field);
  if (choicesOf(field)) return type === 'array' ? 'choices' : 'choice';
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'array' && ['text', 'number'].includes(kindOf(field.items ?? {}))) return 'lines';
  return type === undefined && !field.properties ? 'any' : 'json';
}

/** Texts unchanged, and other values as JSON. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A value of the form that a schema asks for, as an example. */
export function exampleOf(field: Field): unknown {
  const [choice] = choicesOf(field) ?? [];
  const type = typeOf(field);
  if (type === 'array') return [exampleOf(field.items ?? {})];
  if (choice) return choice.value;
  if (type === 'number' || type === 'integer') return 1;
  if (type !== 'object' && !field.properties) return 'text';
  return Object.fromEntries(Object.entries(field.properties ?? {}).map(([name, each]) => [name, exampleOf(each)]));
}

function defaultOf(field: Field): string {
  const { default: value } = field;
  if (value === undefined || value === null) return '';
  const isLines = ['choices', 'lines'].includes(kindOf(field));
  return isLines && Array.isArray(value) ? value.map(textOf).join('\n') : textOf(value);
}

/** Drafts keep no empty texts, so this stands for a default that the person has cleared. */
const cleared = '\0';

export function currentText(field: Field, draft: string | undefined): string {
  return draft === cleared ? '' : (draft ?? defaultOf(field));
}

export const draftFor = (field: Field, text: string): string =>
  text === '' && defaultOf(field) !== '' ? cleared : text;

/** Returns the values of all fields that are not empty. */
export function answersOf({ properties = {} }: Form, drafts: Edits['drafts']): Record<string, unknown> {
  const filled = Object.entries(properties).flatMap(([name, field]) => {
    const text = currentText(field, drafts[name]);
    return text === '' ? [] : [[name, valueOf(field, text)] as const];
  });
  return Object.fromEntries(filled);
}

/** A text that does not fit stays a text. The API says what the field wants. */
function valueOf(field: Field, text: string): unknown {
  const choice = (name: string) => {
    const chosen = choicesOf(field)?.find(({ value }) => textOf(value) === name);
    return chosen ? chosen.value : name;
  };
  const lines = text.split('\n').filter((line) => line !== '');
  switch (kindOf(field)) {
    case 'choice':
      return choice(text);
    case 'choices':
      return lines.map(choice);
    case 'lines':
      return kindOf(field.items ?? {}) === 'number' ? lines.map(numberIn) : lines;
    case 'number':
      return numberIn(text);
    case 'text':
      return text;
    default:
      return jsonIn(text);
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
