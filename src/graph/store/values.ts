import neo4j from 'neo4j-driver';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonMap = Record<string, Json>;

/**
 * Converts properties for Neo4j. Stores texts, numbers, booleans and lists of one of these types directly, and anything
 * else as JSON text whose name is listed in `_json`. Whole numbers become integers, so that `LIMIT n.count` works.
 */
export function toStored(properties: Readonly<JsonMap>): Record<string, unknown> {
  const json: string[] = [];
  const stored: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(properties)) {
    if (value === null) continue;
    const native = toNative(value);
    if (native === undefined) json.push(name);
    stored[name] = native ?? JSON.stringify(value);
  }
  return json.length === 0 ? stored : { ...stored, _json: json };
}

function toNative(value: Json): unknown {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return toNumber(value);
  if (!Array.isArray(value)) return undefined;
  if (value.every((each) => typeof each === 'string') || value.every((each) => typeof each === 'boolean')) return value;
  if (!value.every((each) => typeof each === 'number')) return undefined;
  return value.every(Number.isSafeInteger) ? value.map(toNumber) : value;
}

function toNumber(value: number): unknown {
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? neo4j.int(value) : value;
}

/**
 * Converts the caller's parameters. Whole numbers become integers at every depth, because a list index or LIMIT does
 * not accept a float.
 */
export function toParameter(value: unknown): unknown {
  if (typeof value === 'number') return toNumber(value);
  if (Array.isArray(value)) return value.map(toParameter);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toParameter(each)]));
}

/** Reverses `toStored` and omits internal properties. */
export function fromStored(stored: Readonly<Record<string, unknown>>, without: (name: string) => boolean): JsonMap {
  const json = new Set(Array.isArray(stored._json) ? (stored._json as string[]) : []);
  const entries = Object.entries(stored).filter(([name]) => !without(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, json.has(name) ? parsed(value) : toJson(value)]));
}

function parsed(value: unknown): Json {
  try {
    return JSON.parse(String(value)) as Json;
  } catch {
    return toJson(value);
  }
}

/**
 * Converts a result value that is not a node, relationship or path to JSON. Times and points become their Cypher text, and a
 * number that JSON or JavaScript would change becomes a text, as in `parseJson`.
 */
export function toJson(value: unknown): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return toJson(neo4j.int(value));
  if (neo4j.isInt(value)) return value.inSafeRange() ? value.toNumber() : value.toString();
  if (Array.isArray(value)) return value.map(toJson);
  if (neo4j.isPoint(value))
    return {
      srid: Number(value.srid),
      x: toJson(value.x),
      y: toJson(value.y),
      ...(value.z === undefined ? {} : { z: toJson(value.z) }),
    };
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (neo4j.isDuration(value)) return value.toString().replace(/T$/, '');
  if (isTemporal(value)) return (value as { toString(): string }).toString();
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toJson(each)]));
}

function isTemporal(value: object): boolean {
  return (
    neo4j.isDate(value) ||
    neo4j.isDateTime(value) ||
    neo4j.isLocalDateTime(value) ||
    neo4j.isTime(value) ||
    neo4j.isLocalTime(value)
  );
}
