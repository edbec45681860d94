import { isDeepStrictEqual } from 'node:util';
import { pascalCase } from '../../../base/text.js';

interface Schema {
  $ref?: string;
  type?: unknown;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  required?: string[];
  discriminator?: { propertyName: string; mapping: Record<string, string> };
}

interface Operation {
  operationId: string;
  parameters?: { name: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const refTo = (name: string) => `#/components/schemas/${name}`;

/**
 * Gives every object, enumeration and union in the document a component of its own, named after its place: the field
 * `status` of `Execution` becomes `ExecutionStatus`. Generators of clients make types of components; for what has no
 * name they invent one, and these names collide or are missing.
 */
export function nameSchemas<D extends object>(document: D): D {
  const { paths, components } = document as unknown as Document;
  const names = createNames(components.schemas);
  for (const [name, schema] of Object.entries(components.schemas)) names.within(schema, name);
  for (const { operationId, parameters = [], requestBody, responses } of Object.values(paths).flatMap(
    Object.values,
  ) as Operation[]) {
    const start = pascalCase(operationId);
    for (const parameter of parameters)
      parameter.schema = names.named(parameter.schema, start + pascalCase(parameter.name));
    for (const media of Object.values(requestBody?.content ?? {}))
      if (media.schema) media.schema = names.named(media.schema, `${start}Body`);
    for (const [status, { content = {} }] of Object.entries(responses))
      for (const media of Object.values(content))
        if (media.schema) media.schema = names.named(media.schema, start + answerName(status, Object.keys(responses)));
  }
  for (const schema of Object.values(components.schemas)) describeUnion(schema, components.schemas);
  return document;
}

/** `Answer` for the first success of an operation; a further one has its status in the name. */
function answerName(status: string, all: string[]): string {
  const first = all.find((each) => each.startsWith('2'));
  return status === first ? 'Answer' : `Answer${pascalCase(status)}`;
}

function createNames(schemas: Record<string, Schema>) {
  // Files of generated classes are named after their class, and some file systems ignore case.
  const taken = new Map(Object.keys(schemas).map((name) => [name.toLowerCase(), name]));

  const add = (schema: Schema, wanted: string): Schema => {
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? wanted : `${wanted}${number}`;
      const same = taken.get(name.toLowerCase());
      if (same === undefined) {
        taken.set(name.toLowerCase(), name);
        schemas[name] = schema;
      }
      if (same === undefined || isDeepStrictEqual(schemas[same], schema)) return reference(same ?? name, schema);
    }
  };

  const named = (schema: Schema, name: string): Schema => {
    const [inner, rest] = splitNull(schema);
    within(inner, name);
    const place = needsName(inner) ? add(inner, name) : inner;
    return rest === undefined ? place : { ...rest, anyOf: [place, { type: 'null' }] };
  };

  /** Names what the schema contains. */
  const within = (schema: Schema, name: string): void => {
    for (const [field, property] of Object.entries(schema.properties ?? {}))
      (schema.properties as Record<string, Schema>)[field] = named(property, name + pascalCase(field));
    if (schema.items) schema.items = named(schema.items, name);
    if (typeof schema.additionalProperties === 'object')
      schema.additionalProperties = named(schema.additionalProperties, `${name}Entry`);
    const union = schema.anyOf ?? schema.oneOf;
    union?.forEach((member, at) => {
      union[at] = named(member, union.length > 1 ? name + tagOf(member, at) : name);
    });
  };
  return { named, within };
}

/** Splits a schema that allows null into the schema of its other values and the keywords around both. */
function splitNull(schema: Schema): [inner: Schema, rest?: Schema] {
  const { anyOf, ...rest } = schema;
  const others = anyOf?.filter(({ type }) => type !== 'null') ?? [];
  if (anyOf === undefined || others.length === anyOf.length) return [schema];
  return [others.length === 1 ? (others[0] as Schema) : { anyOf: others }, rest];
}

function needsName({ $ref, properties, enum: values = [], anyOf, oneOf }: Schema): boolean {
  return $ref === undefined && (properties !== undefined || values.length > 1 || (anyOf ?? oneOf) !== undefined);
}

/** A reference with the description, which documentation shows beside a field. */
function reference(name: string, { description }: Schema): Schema {
  return { $ref: refTo(name), ...(description !== undefined && { description }) };
}

/** What tells a member of a union from the others: the constant that all have, or else its number. */
function tagOf({ properties = {} }: Schema, at: number): string {
  const constant = Object.values(properties).find((property) => typeof property.const === 'string')?.const;
  return typeof constant === 'string' ? pascalCase(constant) : String(at + 1);
}

/**
 * Names the field that tells the members of a union apart, if each of them is an object with such a constant. Exactly one member
 * matches then, which `oneOf` says. Of `anyOf`, some generators make one type with the fields of all members.
 */
function describeUnion(schema: Schema, schemas: Record<string, Schema>): void {
  const members = (schema.oneOf ?? schema.anyOf ?? []).map(({ $ref = '' }) => $ref);
  if (members.length < 2) return;
  delete schema.type;
  const objects = members.map(($ref) => schemas[$ref.slice(refTo('').length)]);
  for (const propertyName of objects[0]?.required ?? []) {
    const values = objects.map((member) => constantOf(member, propertyName));
    if (values.every((value) => value !== undefined) && new Set(values).size === members.length) {
      schema.oneOf ??= schema.anyOf;
      delete schema.anyOf;
      schema.discriminator ??= {
        propertyName,
        mapping: Object.fromEntries(values.map((value, at) => [value, members[at] as string])),
      };
    }
  }
}

function constantOf(schema: Schema | undefined, name: string): string | undefined {
  const value = schema?.required?.includes(name) ? schema.properties?.[name]?.const : undefined;
  return typeof value === 'string' ? value : undefined;
}
