/** A range of a text. The end is exclusive. */
export type Place = readonly [start: number, end: number];

/**
 * Returns the range of the value at a path in a valid JSON text, or of its innermost existing ancestor:
 * `placeIn('[{"a": 1}]', [0, 'a'])` returns the range of `1`.
 */
export function placeIn(text: string, path: readonly (string | number)[], from = 0): Place {
  const start = skipSpace(text, from);
  const whole: Place = [start, endOf(text, start)];
  const [step, ...rest] = path;
  if (step === undefined || !/[[{]/.test(text.charAt(start))) return whole;
  const isArray = text.charAt(start) === '[';
  let at = skipSpace(text, start + 1);
  for (let index = 0; at < whole[1] - 1; index += 1) {
    let name = String(index);
    if (!isArray) {
      const end = endOf(text, at);
      name = JSON.parse(text.slice(at, end)) as string;
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    if (name === String(step)) return placeIn(text, rest, at);
    at = skipSpace(text, endOf(text, at));
    if (text.charAt(at) === ',') at = skipSpace(text, at + 1);
  }
  return whole;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text.charAt(at))) at += 1;
  return at;
}

/** Returns the end of the value that begins at `start`. */
function endOf(text: string, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    const part = text.charAt(at);
    if (part === '') return at;
    if (part === '"') at = endOfText(text, at);
    else if (part === '[' || part === '{') {
      depth += 1;
      at += 1;
    } else if (part === ']' || part === '}') {
      if (depth === 0) return at;
      depth -= 1;
      at += 1;
    } else if (depth === 0 && /[\s,:]/.test(part)) return at;
    else {
      at += 1;
      continue;
    }
    if (depth === 0) return at;
  }
}

function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}
