import { createHash } from 'node:crypto';

/** A JSON object as files and answers have it. */
export type Json = Record<string, unknown>;

/** The default of a field, which may depend on the object and its place in a list. */
type Default = unknown;

export interface Shape {
  /** The fields in the order of the file, with their defaults. */
  fields: Readonly<Record<string, Default>>;
  /** Defaults that depend on the object. */
  derived?: Readonly<Record<string, (from: Json, place: number) => unknown>>;
  /** Fields whose entries, or whose object, have a shape of their own. */
  parts?: Readonly<Record<string, Shape>>;
  /** Fields that only the service sets. */
  ignored?: readonly string[];
}

/** Of a field that has no default. */
export const none = Symbol('has no default');

/** Returns the object without what only the service sets and what has its default, with its fields in the order of the shape. */
export function plain(shape: Shape, value: Json, place = 0): Json {
  const { fields, derived = {}, parts = {}, ignored = [] } = shape;
  const names = new Set([...Object.keys(fields), ...Object.keys(value).sort()]);
  return Object.fromEntries(
    [...names]
      .filter((name) => value[name] !== undefined && !ignored.includes(name))
      .map((name): [string, unknown] => [name, plainPart(own(parts, name), value[name])])
      .filter(([name, given]) => {
        const fallback = own(derived, name);
        return !isSame(given, fallback ? fallback(value, place) : (own(fields, name) ?? null));
      }),
  );
}

/** Returns the object with the defaults of its omitted fields, for a change that replaces it. */
export function complete(shape: Shape, value: Json): Json {
  const { fields, derived = {}, parts = {} } = shape;
  const defaults = Object.keys(fields).map((name): [string, unknown] => {
    const given = derived[name] ? derived[name](value, 0) : fields[name];
    return [name, parts[name] && isObject(given) ? complete(parts[name], {}) : given];
  });
  return { ...Object.fromEntries(defaults.filter(([, given]) => given !== none)), ...value };
}

/** Returns the fields of the wanted content that differ from the present one, with the defaults of those that were left out. */
export function changedFields(shape: Shape, wanted: Json, present: Json): Json {
  const [after, before] = [complete(shape, wanted), complete(shape, present)];
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => !isSame(value, before[name])));
}

/** Returns JSON whose objects have their fields in the order of their names (RFC 8785). */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return `{${names
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
    .join(',')}}`;
}

/** Returns the value with the fields of its objects in the order of their names. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}

/** Returns the SHA-256 of the canonical JSON. */
export function digestOf(content: Json): string {
  return createHash('sha256').update(canonical(content)).digest('hex');
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the fields that a client sets, as the service answers them: what `expected` of a change is made from. */
export function contentOf(shape: Shape, answer: Json): Json {
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !(shape.ignored ?? []).includes(name)));
}

function plainPart(shape: Shape | undefined, value: unknown): unknown {
  if (!shape) return value;
  if (Array.isArray(value))
    return value.map((entry: unknown, at) => (isObject(entry) ? plain(shape, entry, at) : entry));
  return isObject(value) ? plain(shape, value) : value;
}

function isSame(one: unknown, other: unknown): boolean {
  return other !== none && canonical(one) === canonical(other);
}

/** Names of files may be those of `Object.prototype`. */
function own<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** Returns the id of the first entry of a list. */
export function firstId(list: unknown): unknown {
  return Array.isArray(list) && isObject(list[0]) ? list[0]._id : undefined;
}
