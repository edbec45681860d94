import { isJsonObject, type JsonObject } from '../base/json.js';

/**
 * What an endpoint sent beside the text and the calls of an answer, such as signatures of its thinking. The endpoint
 * gets it back unchanged with the conversation; nothing else reads it.
 */
export type Echo = JsonObject;

/** Fields whose pieces repeat instead of continuing the previous piece. */
const constant: ReadonlySet<string> = new Set([
  ...['id', 'type', 'format', 'role', 'name', 'index', 'object', 'signature', 'thought_signature', 'model', 'status'],
]);
/** The fields of a list's entry that arrive in pieces. */
const texts = ['text', 'thinking', 'summary', 'reasoning'];

/** Returns the fields of a message or call that are not in `known`, without those that are null. */
export function unknownFields(message: JsonObject, known: ReadonlySet<string>): Echo {
  return Object.fromEntries(
    Object.entries(message).filter(
      ([name, value]) => !known.has(name) && name !== '__proto__' && value !== null && value !== undefined,
    ),
  );
}

/** Adds the next piece of a streamed value to what has arrived of it: texts continue, lists get longer, objects merge. */
export function withPiece(before: unknown, piece: unknown, name = ''): unknown {
  if (piece === null || piece === undefined) return before;
  if (before === null || before === undefined) return piece;
  if (typeof before === 'string' && typeof piece === 'string')
    return constant.has(name) ? piece || before : before + piece;
  if (Array.isArray(before) && Array.isArray(piece))
    return piece.reduce<unknown[]>(withEntry, [...(before as unknown[])]);
  if (isJsonObject(before) && isJsonObject(piece)) return mergeFields(before, piece);
  return piece;
}

/** Merges the fields of the next piece into an object. */
export function mergeFields(before: JsonObject, piece: JsonObject): JsonObject {
  const merged = { ...before };
  for (const [name, value] of Object.entries(unknownFields(piece, none)))
    merged[name] = withPiece(merged[name], value, name);
  return merged;
}

const none: ReadonlySet<string> = new Set();

/** Continues the entry of the same index, or the last entry if it is an unfinished text of the same type. */
function withEntry(list: unknown[], entry: unknown): unknown[] {
  const at = isJsonObject(entry)
    ? list.findLastIndex((each, index) => continues(each, entry, index === list.length - 1))
    : -1;
  if (at < 0) return [...list, entry];
  return list.map((each, index) => (index === at ? withPiece(each, entry) : each));
}

function continues(before: unknown, entry: JsonObject, isLast: boolean): boolean {
  if (!isJsonObject(before) || before.type !== entry.type) return false;
  if (before.index !== undefined || entry.index !== undefined)
    return before.index === entry.index && !isOther(before, entry);
  const hasText = texts.some(
    (name) => before[name] !== undefined && (entry[name] !== undefined || 'signature' in entry),
  );
  return isLast && hasText && !before.signature && !isOther(before, entry);
}

function isOther(before: JsonObject, entry: JsonObject): boolean {
  return Boolean(before.id) && Boolean(entry.id) && before.id !== entry.id;
}
