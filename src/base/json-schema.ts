import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { addFormats } from '@modelcontextprotocol/client/validators/ajv';
import { isJsonObject, type JsonObject } from './json.js';

/**
 * JSON Schemas (2020-12) that people write, and values that they describe. Both decide how long a check takes, so these
 * functions run in a thread (`src/threads/schema-checks.ts`).
 */

/** A schema and a value. Problems name the value by `name`. */
export interface ValueCheck {
  schema: JsonObject;
  value: unknown;
  name: string;
}

const dialect = 'https://json-schema.org/draft/2020-12/schema';
const maxProblems = 20;
const maxTextLength = 300;
/** The maximum length of a schema, in characters of JSON. */
const maxSchemaLength = 65_536;

/** The package has no types of its own for this function. */
const withFormats = addFormats as (ajv: Ajv2020) => unknown;

/** Compiles schemas without checking them. Keeps what it compiled, so each schema has its own. */
function newValidator(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, validateSchema: false });
  withFormats(ajv);
  return ajv;
}

export function problemsOfValue({ schema, value, name }: ValueCheck): string[] {
  return valueCheck(schema, name)(value);
}

/**
 * Returns a check of values against a schema that can be used. It returns why a value does not match: at most 20 problems such
 * as "inputs.total: must be a number".
 */
export function valueCheck(schema: JsonObject, name: string): (value: unknown) => string[] {
  const check = newValidator().compile(schema);
  return (value) => (check(value) ? [] : problemsIn(check.errors ?? [], name));
}

export type NamedSchema = Pick<ValueCheck, 'schema' | 'name'>;

/** Returns why schemas cannot be used. A schema must be complete in itself: it may refer only to its own parts. */
export function problemsOfSchemas(schemas: readonly NamedSchema[]): string[] {
  return schemas.flatMap(problemsOfSchema);
}

/** Checks schemas themselves. Compiling the schema of schemas takes most of the time of a check, so all share it. */
const schemaOfSchemas = newValidator();

function problemsOfSchema({ schema, name }: NamedSchema): string[] {
  const length = JSON.stringify(schema).length;
  if (length > maxSchemaLength)
    return [`${name}: must have at most ${maxSchemaLength} characters of JSON, not ${length}`];
  if (schema.$schema !== undefined && schema.$schema !== dialect) return [`${name}.$schema: must be "${dialect}"`];
  if (schemaOfSchemas.validateSchema(schema) !== true) return problemsIn(schemaOfSchemas.errors ?? [], name);
  const parts = partsOf(schema);
  const problems = parts.flatMap(({ schema: part, path }) => partProblems(part, [name, ...path].join('.')));
  if (problems.length > 0) return problems.slice(0, maxProblems);
  const endless = endlessReference(schema, parts);
  if (endless !== undefined) return [`${name}: ${endless}`];
  try {
    newValidator().compile(schema);
  } catch (error) {
    return [`${name}: ${String(error instanceof Error ? error.message : error).slice(0, maxTextLength)}`];
  }
  for (const { schema: part } of parts) patternsOf(part).forEach(tryPattern);
  return [];
}

/** A schema within a schema. */
interface Part {
  schema: JsonObject;
  path: readonly string[];
}

/** The keywords whose value is a schema, a list of schemas, or an object of schemas (JSON Schema 2020-12, Core and Validation). */
const schemaKeywords = ['additionalProperties', 'contains', 'contentSchema', 'items', 'propertyNames'] as const;
const unevaluatedKeywords = ['unevaluatedItems', 'unevaluatedProperties'] as const;
const namedKeywords = ['$defs', 'definitions', 'patternProperties', 'properties'] as const;
/** Those that apply to the same value as the schema around them. */
const inPlace = {
  single: ['not', 'if', 'then', 'else'],
  lists: ['allOf', 'anyOf', 'oneOf'],
  named: ['dependentSchemas'],
};

/** The schema and all schemas within it. */
function partsOf(schema: unknown, path: readonly string[] = []): Part[] {
  if (!isJsonObject(schema)) return [];
  const single = [...schemaKeywords, ...unevaluatedKeywords, ...inPlace.single];
  return [
    { schema, path },
    ...single.flatMap((keyword) => partsOf(schema[keyword], [...path, keyword])),
    ...['prefixItems', ...inPlace.lists].flatMap((keyword) => partsOfMembers(schema[keyword], [...path, keyword])),
    ...[...namedKeywords, ...inPlace.named].flatMap((keyword) => partsOfMembers(schema[keyword], [...path, keyword])),
  ];
}

function membersOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

function partsOfMembers(members: unknown, path: readonly string[]): Part[] {
  if (typeof members !== 'object' || members === null) return [];
  return Object.entries(members).flatMap(([name, each]) => partsOf(each, [...path, name]));
}

function partProblems({ $id, $ref, $dynamicRef }: JsonObject, where: string): string[] {
  const isRemote = (reference: unknown) => typeof reference === 'string' && !reference.startsWith('#');
  return [
    ...($id === undefined
      ? []
      : [`${where}.$id: is not allowed; a schema refers to its own parts, such as "#/$defs/item"`]),
    ...(isRemote($ref) ? [`${where}.$ref: must refer to a part of this schema, such as "#/$defs/item"`] : []),
    ...($dynamicRef === undefined ? [] : [`${where}.$dynamicRef: is not allowed; use $ref`]),
  ];
}

/** Why a check of any value would not end: a schema that refers to itself for the same value. */
function endlessReference(root: JsonObject, parts: readonly Part[]): string | undefined {
  const anchors = new Map(parts.map(({ schema }) => [schema.$anchor, schema] as const));
  const done = new Set<JsonObject>();
  const visit = (schema: JsonObject, around: readonly JsonObject[]): boolean => {
    if (around.includes(schema)) return true;
    if (done.has(schema)) return false;
    const applied = [
      ...inPlace.single.map((keyword) => schema[keyword]),
      ...[...inPlace.lists, ...inPlace.named].flatMap((keyword) => membersOf(schema[keyword])),
      typeof schema.$ref === 'string' ? targetOf(root, schema.$ref, anchors) : undefined,
    ];
    const isEndless = applied.filter(isJsonObject).some((each) => visit(each, [...around, schema]));
    done.add(schema);
    return isEndless;
  };
  return parts.some(({ schema }) => visit(schema, [])) ? 'a $ref refers to itself without end' : undefined;
}

/** The part to which a reference points, by its JSON Pointer (RFC 6901) or its anchor. */
function targetOf(root: JsonObject, reference: string, anchors: ReadonlyMap<unknown, JsonObject>): unknown {
  const fragment = decoded(reference.slice(1));
  if (!fragment.startsWith('/')) return fragment === '' ? root : anchors.get(fragment);
  const names = fragment.slice(1).split('/');
  return names.reduce<unknown>((at, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as JsonObject)[key] : undefined;
  }, root);
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function patternsOf({ pattern, patternProperties }: JsonObject): string[] {
  return [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...(isJsonObject(patternProperties) ? Object.keys(patternProperties) : []),
  ];
}

/** With so many repetitions, a pattern that takes exponential time does not end within the limit of the thread. */
const repetitions = 40;
const maxCharacters = 40;

/** Matches texts that repeat what the pattern names, because a slow pattern is slow with those. */
function tryPattern(pattern: string): void {
  const matcher = new RegExp(pattern, 'u');
  const characters = [...new Set([...pattern, ...'aA0 -._'])].slice(0, maxCharacters);
  const pairs = [...pattern.matchAll(/[A-Za-z0-9]{2}/g)].map(([pair]) => pair);
  for (const unit of [...characters, ...pairs.slice(0, maxCharacters)]) {
    const text = unit.repeat(repetitions);
    for (const end of ['', '\n', '\u{10ffff}']) matcher.test(text + end);
  }
}

function problemsIn(errors: readonly ErrorObject[], name: string): string[] {
  const problems = errors.flatMap((error) => problemOf(error, name));
  return [...new Set(problems)].slice(0, maxProblems);
}

/** The keywords whose errors only say that those of the schemas within them follow. */
const onlyAround: ReadonlySet<string> = new Set(['if', 'propertyNames']);

function problemOf({ instancePath, keyword, params, message = 'is not valid' }: ErrorObject, name: string): string[] {
  const path = instancePath.split('/').slice(1);
  const at = [name, ...path.map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'))].join('.');
  const given = params as JsonObject;
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return [`${at}.${String(given.missingProperty)}: is required`];
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return [`${at}.${String(given.additionalProperty ?? given.unevaluatedProperty)}: is not a field of the schema`];
    case 'enum':
      return [`${at}: must be one of ${shown((given.allowedValues as unknown[]).map((each) => JSON.stringify(each)))}`];
    case 'const':
      return [`${at}: must be ${shown([JSON.stringify(given.allowedValue)])}`];
    case 'type':
      return [`${at}: must be ${[given.type].flat().map(typeName).join(' or ')}`];
    default:
      return onlyAround.has(keyword) ? [] : [`${at}: ${message.replace('NOT', 'not').slice(0, maxTextLength)}`];
  }
}

function shown(texts: readonly string[]): string {
  const text = texts.join(', ');
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
};

function typeName(type: unknown): string {
  return typeNames[String(type)] ?? String(type);
}
