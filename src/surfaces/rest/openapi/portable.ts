import type { z } from 'zod';
import type { RouteGroup } from './errors.js';

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
}

interface Paths {
  paths: Record<string, Record<string, { parameters?: Parameter[] }>>;
}

/**
 * Changes the document so that validators accept it and generators of clients understand it: parameters say that they are
 * required, numbers say their range, a list of types becomes `anyOf`, fields that are objects or lists have no `default`, texts
 * in a union have no format, and an object with any fields in a union says no more than that it is an object. In some languages,
 * a union of a map has a member without a name.
 */
export function makePortable<D extends object>(document: D, groups: readonly RouteGroup[]): D {
  requireParameters(document as unknown as Paths, groups);
  simplifySchemas(document as unknown as JsonNode, false);
  for (const schema of Object.values((document as unknown as Components).components.schemas)) splitList(schema);
  return document;
}

/**
 * Every parameter has a description. A parameter of a path is always required (OpenAPI 3.1, Parameter Object), and one of a query if its schema refuses its
 * absence. Schemas that convert texts to numbers hide this from the generator of the document.
 */
function requireParameters({ paths }: Paths, groups: readonly RouteGroup[]): void {
  for (const { path, method, query } of groups.flatMap(({ routes }) => routes)) {
    const shape = (query as z.ZodObject | undefined)?.shape ?? {};
    for (const parameter of paths[path]?.[method]?.parameters ?? []) {
      const schema = parameter.in === 'query' ? (shape[parameter.name] as z.ZodType | undefined) : undefined;
      if (parameter.in === 'path' || schema?.safeParse(undefined).success === false) parameter.required = true;
      parameter.description ??= parameterText(parameter);
    }
  }
}

/** `execution_id` in a path becomes "The id of the execution."; a field of a query is a filter of a list. */
function parameterText({ in: place, name }: Parameter): string {
  if (place === 'query') return `Only records with this \`${name}\`.`;
  const [, of] = /^(.+?)_?id$/i.exec(name) ?? [];
  if (name !== 'id' && of === undefined) return `The ${name} of the record.`;
  return `The id of the ${of?.replaceAll('_', ' ') ?? 'record'}.`;
}

type JsonNode = Record<string, unknown>;

interface Components {
  components: { schemas: Record<string, JsonNode> };
}

/** Fields of these names map names of the API to values, so their keys are no keywords. */
const maps = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'schemas',
  'responses',
  'paths',
  'headers',
  'content',
]);
const values = new Set(['example', 'examples', 'enum', 'const', 'default']);

/** @param isMap whether the keys of the node are names of the API */
function simplifySchemas(node: JsonNode, isMap: boolean): void {
  if (!isMap) {
    const { type, default: preset } = node;
    if (typeof preset === 'object' && preset !== null) delete node.default;
    writeOptionalConstants(node);
    if (Array.isArray(type) && type.filter((name) => name !== 'null').length > 1) {
      delete node.type;
      node.anyOf = type.map((name: string) => ({ type: name }));
    }
    // Generators take the type and write a list of texts for the constant.
    if (typeof node.const === 'boolean') delete node.type;
    if (isOfIntegers(node)) node.type = 'integer';
    if (Array.isArray(node.anyOf)) node.anyOf = (node.anyOf as JsonNode[]).map(withoutMap).map(withoutTextFormat);
    node.format ??= numberFormat(node);
    if (node.format === undefined) delete node.format;
  }
  for (const [key, value] of Object.entries(node)) {
    if (typeof value !== 'object' || value === null || (!isMap && values.has(key))) continue;
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value])
      if (typeof each === 'object' && each !== null) simplifySchemas(each as JsonNode, !isMap && maps.has(key));
  }
}

/** An optional field that is true if present is "no false", because openapi-python-client writes invalid code for its constant. */
function writeOptionalConstants({ properties = {}, required = [] }: JsonNode): void {
  for (const [name, field] of Object.entries(properties as Record<string, JsonNode>)) {
    if (typeof field.const !== 'boolean' || (required as string[]).includes(name)) continue;
    Object.assign(field, { type: 'boolean', not: { const: !field.const } });
    delete field.const;
  }
}

/** Whether the schema allows only certain integers. */
function isOfIntegers({ type, const: only, enum: values = [only] }: JsonNode): boolean {
  return type === 'number' && (values as unknown[]).every(Number.isInteger);
}

/**
 * The range of a number. Without it, generators for Go and Java read an integer into 32 bits and Go reads any other number into a
 * 32-bit float, which rounds epoch seconds to minutes.
 */
function numberFormat(node: JsonNode): string | undefined {
  const { type, minimum = -Infinity, maximum = Infinity } = node;
  const types = [type].flat();
  if (types.includes('number')) return 'double';
  const listsItsValues = node.const !== undefined || node.enum !== undefined;
  const fitsIn32Bits = listsItsValues || ((minimum as number) >= -(2 ** 31) && (maximum as number) < 2 ** 31);
  return types.includes('integer') && !fitsIn32Bits ? 'int64' : undefined;
}

/** A text in a union has no format, because generators for Java make a class of it that cannot be a member of a union. */
function withoutTextFormat(schema: JsonNode): JsonNode {
  const { format: _, ...rest } = schema;
  return schema.type === 'string' ? rest : schema;
}

function withoutMap(schema: JsonNode): JsonNode {
  const { propertyNames: _, additionalProperties: values, ...rest } = schema;
  const isMap = typeof values === 'object' && values !== null && Object.keys(values).length === 0;
  return isMap && schema.properties === undefined ? rest : schema;
}

/**
 * Describes "one or a list of them" by a condition. Generators pass such a value on as it is; of a union of an object with
 * any fields and a list they make code that does not compile.
 */
function splitList(schema: JsonNode): void {
  const [one, list] = (schema.anyOf ?? []) as JsonNode[];
  const isListOfOne = one?.$ref !== undefined && (list?.items as JsonNode | undefined)?.$ref === one.$ref;
  if (!isListOfOne || list === undefined) return;
  delete schema.anyOf;
  Object.assign(schema, { if: { type: 'array' }, then: list, else: one });
}
