import { refuse } from './refusal.js';
import { compact, type Tree } from './tree.js';

/** The maximum number of relationships in a path of variable length. */
export const maxHops = 15;

/** Limits `*`, `*2`, `*1..3`: the ceiling replaces an open end, and a higher number is refused. */
export function clampedPathLength(tree: Tree): string {
  const [from, to] = clamped(compact(tree).slice(1), '..', 1);
  return from === to ? `*${from}` : `*${from}..${to}`;
}

/** Limits the quantifiers `+`, `*`, `{2}`, `{1,3}` in the same way. */
export function clampedQuantifier(tree: Tree): string {
  const text = compact(tree);
  if (text === '+') return `{1,${maxHops}}`;
  if (text === '*') return `{0,${maxHops}}`;
  const [from, to] = clamped(text.slice(1, -1), ',', 0);
  return from === to ? `{${from}}` : `{${from},${to}}`;
}

/** Reads a number, or a range whose start or end may be missing. */
function clamped(text: string, separator: string, least: number): [from: number, to: number] {
  const [from = '', to = from] = text.replaceAll('_', '').split(separator);
  const range: [number, number] = [from === '' ? least : Number(from), to === '' ? maxHops : Number(to)];
  if (range.some((hops) => !Number.isInteger(hops) || hops > maxHops))
    throw refuse(`A quantifier of a path may allow at most ${maxHops} relationships`);
  return range;
}
