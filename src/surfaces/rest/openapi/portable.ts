import type { z } from 'zod';
import type { RouteGroup } from './errors.js';

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
}

interface Paths {
  paths: Record<string, Record<string, { parameters?: Parameter[] }>>;
}

/**
 * Changes the document so that validators accept it and generators of clients understand it: parameters say that they are
 * required, a list of types becomes `anyOf`, and fields that are objects or lists have no `default`.
 */
export function makePortable<D extends object>(document: D, groups: readonly RouteGroup[]): D {
  requireParameters(document as unknown as Paths, groups);
  simplifySchemas(document as unknown as JsonNode, false);
  return document;
}

/**
 * A parameter of a path is always required (OpenAPI 3.1, Parameter Object), and one of a query if its schema refuses its
 * absence. Schemas that convert texts to numbers hide this from the generator of the document.
 */
function requireParameters({ paths }: Paths, groups: readonly RouteGroup[]): void {
  for (const { path, method, query } of groups.flatMap(({ routes }) => routes)) {
    const shape = (query as z.ZodObject | undefined)?.shape ?? {};
    for (const parameter of paths[path]?.[method]?.parameters ?? []) {
      const schema = parameter.in === 'query' ? (shape[parameter.name] as z.ZodType | undefined) : undefined;
      if (parameter.in === 'path' || schema?.safeParse(undefined).success === false) parameter.required = true;
    }
  }
}

type JsonNode = Record<string, unknown>;

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
    if (Array.isArray(type) && type.filter((name) => name !== 'null').length > 1) {
      delete node.type;
      node.anyOf = type.map((name: string) => ({ type: name }));
    }
  }
  for (const [key, value] of Object.entries(node)) {
    if (typeof value !== 'object' || value === null || (!isMap && values.has(key))) continue;
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value])
      if (typeof each === 'object' && each !== null) simplifySchemas(each as JsonNode, !isMap && maps.has(key));
  }
}
