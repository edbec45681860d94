import { refuse } from './refusal.js';
import { child, compact, type Tree } from './tree.js';

/** The maximum number of relationships in a path of variable length. */
export const maxHops = 15;

/** Limits `*`, `*2`, `*1..3`: the ceiling replaces an open end, and a higher number is refused. */
export function clampedPathLength(tree: Tree): string {
  const [from, to] = rangeOfPathLength(tree);
  return from === to ? `*${from}` : `*${from}..${to}`;
}

function rangeOfPathLength(tree: Tree): [from: number, to: number] {
  return clamped(compact(tree).slice(1), '..', 1);
}

/** Limits the quantifiers `+`, `*`, `{2}`, `{1,3}` in the same way. */
export function clampedQuantifier(tree: Tree): string {
  const [from, to] = rangeOfQuantifier(tree);
  return from === to ? `{${from}}` : `{${from},${to}}`;
}

function rangeOfQuantifier(tree: Tree): [from: number, to: number] {
  const text = compact(tree);
  if (text === '+') return [1, maxHops];
  if (text === '*') return [0, maxHops];
  return clamped(text.slice(1, -1), ',', 0);
}

/** Returns the maximum number of relationships in a match of the pattern. */
export function mostHops(tree: Tree): number {
  if (tree.rule === 'relationshipPattern') {
    const length = child(tree, 'pathLength');
    return length ? rangeOfPathLength(length)[1] : 1;
  }
  return tree.children.reduce((hops, each, at) => {
    const next = tree.children[at + 1];
    const quantifier = child(each, 'quantifier') ?? (next?.rule === 'quantifier' ? next : undefined);
    return hops + mostHops(each) * (quantifier ? rangeOfQuantifier(quantifier)[1] : 1);
  }, 0);
}

/** Reads a number, or a range whose start or end may be missing. */
function clamped(text: string, separator: string, least: number): [from: number, to: number] {
  const [from = '', to = from] = text.replaceAll('_', '').split(separator);
  const range: [number, number] = [from === '' ? least : Number(from), to === '' ? maxHops : Number(to)];
  if (range.some((hops) => !Number.isInteger(hops) || hops > maxHops))
    throw refuse(`A quantifier of a path may allow at most ${maxHops} relationships`);
  return range;
}
