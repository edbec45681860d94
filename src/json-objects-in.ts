import { isJsonObject, parseJsonOrUndefined, type JsonObject } from './json.js';

const maxObjects = 100;

/** Returns the JSON objects in a text that also has other words, in order. An object within another one is not returned. */
export function jsonObjectsIn(text: string): JsonObject[] {
  const found: JsonObject[] = [];
  let at = text.indexOf('{');
  for (let tries = 0; at >= 0 && tries < maxObjects; tries += 1) {
    const end = endOfObject(text, at);
    const value = end === undefined ? undefined : parseJsonOrUndefined(text.slice(at, end));
    if (isJsonObject(value)) found.push(value);
    at = text.indexOf('{', isJsonObject(value) && end !== undefined ? end : at + 1);
  }
  return found;
}

/** The position after the bracket that closes the object which begins at `start`. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}
