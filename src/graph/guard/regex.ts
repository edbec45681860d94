import { refuse } from './refusal.js';
import { child, compact, type Tree } from './tree.js';

/** Returns the regular expression of a string literal, as the database reads it. */
export function patternIn(tree: Tree | undefined): string {
  const literal = tree && child(tree, 'stringLiteral');
  if (!literal)
    throw refuse('The right side of =~ must be a regular expression literal, not a parameter or a computed string');
  // The database keeps the backslash of every other escape: `\[` stays an escaped bracket.
  return compact(literal)
    .slice(1, -1)
    .replace(/\\([tbnrf'"\\])/g, '$1');
}

/**
 * Returns an upper bound of the steps that `text =~ pattern` takes on a text of the given length. Java's matcher
 * backtracks: each open repetition multiplies the steps by the length, so nested repetitions and back references are
 * refused.
 */
export function regexSteps(pattern: string, length: number): number {
  const source = pattern.replace(/^\(\?[ims]+\)/, '');
  const refused = (what: string) =>
    refuse(`The regular expression may not have ${what}; use CONTAINS, STARTS WITH or ENDS WITH, or a simpler one`);
  // Whether each open group contains a repetition or a choice. Such a group must not be repeated.
  const groups: boolean[] = [];
  let lastGroupVaries = false;
  let lastWasGroup = false;
  let steps = pattern.length + 1;
  for (let at = 0; at < source.length; at += 1) {
    const sign = source.charAt(at);
    const wasGroup: boolean = lastWasGroup;
    lastWasGroup = false;
    if (sign === '\\') {
      const next = source.charAt(at + 1);
      if (/[1-9k]/.test(next)) throw refused('a back reference');
      if (/[QEGXRpPNxuc0]/.test(next)) throw refused(`\\${next}`);
      at += 1;
    } else if (sign === '[') {
      at = endOfClass(source, at, refused);
    } else if (sign === '(') {
      if (source.charAt(at + 1) === '?') {
        if (source.charAt(at + 2) !== ':') throw refused('a group that begins with (?, but for (?:');
        at += 2;
      }
      groups.push(false);
    } else if (sign === ')') {
      lastGroupVaries = groups.pop() ?? false;
      lastWasGroup = true;
      if (lastGroupVaries && groups.length > 0) groups[groups.length - 1] = true;
    } else if (sign === '|') {
      steps *= 2;
      if (groups.length > 0) groups[groups.length - 1] = true;
    } else if ('*+?{'.includes(sign)) {
      if (wasGroup && lastGroupVaries) throw refused('a repetition or a choice inside a repetition');
      const { factor, end } = repetition(source, at, length, refused);
      steps *= factor;
      at = end;
      if (groups.length > 0) groups[groups.length - 1] = true;
    }
  }
  return steps;
}

function endOfClass(source: string, start: number, refused: (what: string) => Error): number {
  const first = source.charAt(start + 1) === '^' ? start + 2 : start + 1;
  for (let at = first; at < source.length; at += 1) {
    const sign = source.charAt(at);
    if (sign === '\\') at += 1;
    else if (sign === '[' || source.startsWith('&&', at)) throw refused('a class in a class');
    else if (sign === ']' && at > first) return at;
  }
  return source.length;
}

/**
 * Reads a repetition. `factor` is the maximum multiplier for the number of matches. `end` is the position of the last
 * character.
 */
function repetition(
  source: string,
  at: number,
  length: number,
  refused: (what: string) => Error,
): { factor: number; end: number } {
  const counted = /^\{(\d+)(?:,(\d*))?\}/.exec(source.slice(at));
  const sign = counted?.[0] ?? source.charAt(at);
  let end = at + sign.length - 1;
  if (/[?+]/.test(source.charAt(end + 1))) end += 1;
  if (/[*+?{]/.test(source.charAt(end + 1))) throw refused('a repetition of a repetition');
  if (!counted) return { factor: sign === '?' ? 2 : Math.max(1, length), end };
  const [, least = '', most] = counted;
  return { factor: Math.max(2, most === '' ? length : Number(most ?? least)), end };
}
