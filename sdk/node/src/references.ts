import { schemaOfField } from './values.js';

declare const valueType: unique symbol;
declare const isReference: unique symbol;

/** A CEL expression of a flow: a reference, or the result of `cel`. */
export interface Expression<T = unknown> {
  readonly [valueType]: T;
}

/** A value that a run will have: inputs, an output, or a part of one. Its fields are those of its schema. */
export type Reference<T = unknown> = unknown extends T ? AnyReference : TypedReference<T> & FieldsOf<NonNullable<T>>;

interface TypedReference<T> extends Expression<T> {
  readonly [isReference]: true;
}

/** A reference about which no schema says anything. */
export interface AnyReference extends TypedReference<unknown> {
  readonly [name: string]: AnyReference;
}

type FieldsOf<T> = [T] extends [readonly (infer E)[]]
  ? { readonly [index: number]: Reference<E> }
  : [T] extends [object]
    ? { readonly [K in keyof T]: Reference<T[K]> }
    : object;

const place = Symbol('place');

/** What a reference or an expression stands for. */
interface Place {
  cel: string;
  /** Templates have other names for some values. Expressions have none in templates. */
  liquid?: string;
  schema?: unknown;
}

/** What `cel` accepts besides expressions, and writes as a literal. */
export type Literal = string | number | boolean | null | readonly Literal[] | { readonly [name: string]: Literal };

/**
 * Writes a CEL expression. References and other expressions in it are checked by the compiler, and other values become literals:
 * `` cel`${reader.output.net} > ${100}` ``.
 * @param texts - The CEL text around the values.
 * @param values - References, expressions and JSON values.
 */
export function cel(
  texts: TemplateStringsArray,
  ...values: readonly (TypedReference<unknown> | Expression | Literal)[]
): Expression {
  const parts = values.map((value) => {
    const found = placeOf(value);
    if (!found) return JSON.stringify(value);
    return found.liquid === undefined ? `(${found.cel})` : found.cel;
  });
  return expression(String.raw({ raw: texts }, ...parts));
}

/**
 * Writes a Liquid template, such as a prompt: `` liquid`Read the invoice: ${order.text}` ``.
 * @param texts - The text of the template around the values.
 * @param values - References, and texts that are written as they are.
 */
export function liquid(
  texts: TemplateStringsArray,
  ...values: readonly (TypedReference<unknown> | string | number)[]
): string {
  const parts = values.map((value) => {
    const found = placeOf(value);
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    if (found === undefined) throw new TypeError('liquid: a value must be a reference, a text or a number');
    if (found.liquid === undefined)
      throw new TypeError('a template cannot compute expressions; compute the value in a `set` step and refer to it');
    return `{{ ${found.liquid} }}`;
  });
  return String.raw({ raw: texts }, ...parts);
}

/** Returns the value with texts instead of its references and expressions. */
export function compiled(value: unknown): unknown {
  const found = placeOf(value);
  if (found) return found.cel;
  if (Array.isArray(value)) return value.map(compiled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, compiled(part)]));
}

/** Returns the schema to which a reference belongs; undefined for other values. */
export function schemaAt(value: unknown): unknown {
  return placeOf(value)?.schema;
}

/** Refers to the output of an agent or a step. */
export function outputOf<T>(id: string, schema: unknown): Reference<T> {
  return reference({ cel: field('outputs', id), liquid: field('outputs_by_id', id), schema });
}

/** Refers to a name of a part, such as `item`. */
export function named<T>(name: string, schema?: unknown): Reference<T> {
  return reference({ cel: name, liquid: name, schema });
}

/** Names that mean something else in templates, so an input of this name is reached through `inputs`. */
const taken = new Set(
  'goal inputs runtime documents outputs outputs_by_id previous actions execution item index carry true false nil null empty blank'.split(
    ' ',
  ),
);

/** Refers to the inputs of a run. In templates, `inputs` lacks the `runtime_inputs`, and the name alone has both. */
export function inputsOf<T>(schema: unknown): Reference<T> {
  return reference({ cel: 'inputs', liquid: 'inputs', schema }, (name) =>
    isName(name) && !taken.has(name) ? name : field('inputs', name),
  );
}

/** The reserved words of CEL are no names of fields. */
const reserved = new Set(
  'as break const continue else false for function if import in let loop namespace null package return true var void while'.split(
    ' ',
  ),
);

function isName(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !reserved.has(text);
}

function field(path: string, name: string): string {
  if (/^\d+$/.test(name)) return `${path}[${name}]`;
  return isName(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}

function expression(text: string): Expression {
  return { [place]: { cel: text } } as unknown as Expression;
}

/** The type is a promise of the caller: a reference has the fields of the schema, and none of them has a value yet. */
function reference<T>(
  found: Required<Pick<Place, 'cel' | 'liquid'>> & Place,
  inTemplate = (name: string) => field(found.liquid, name),
): Reference<T> {
  return new Proxy(
    { [place]: found },
    {
      get(_, name) {
        if (name === place) return found;
        if (name === Symbol.toPrimitive) return refuseText;
        if (typeof name === 'symbol') return undefined;
        const schema = schemaOfField(found.schema, name, found.cel);
        return reference({ cel: field(found.cel, name), liquid: inTemplate(name), schema });
      },
    },
  ) as unknown as Reference<T>;
}

function refuseText(): never {
  throw new TypeError('a reference has no value yet; write it in cel`…` or in liquid`…`');
}

function placeOf(value: unknown): Place | undefined {
  return typeof value === 'object' && value !== null ? (value as { [place]?: Place })[place] : undefined;
}
