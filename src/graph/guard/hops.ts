import { refuse } from './refusal.js';
import { compact, type Tree } from './tree.js';

/** Limits `*`, `*2`, `*1..3`: the ceiling replaces an open end, and a higher number is refused. */
export function clampedPathLength(tree: Tree, ceiling: number): string {
  const text = compact(tree).slice(1).replaceAll('_', '');
  if (/^\d+$/.test(text)) return `*${checked(Number(text), ceiling)}`;
  const [from = '', to = ''] = text.split('..');
  return `*${checked(Number(from === '' ? 1 : from), ceiling)}..${to === '' ? ceiling : checked(Number(to), ceiling)}`;
}

/** Limits the quantifiers `+`, `*`, `{2}`, `{1,3}` in the same way. */
export function clampedQuantifier(tree: Tree, ceiling: number): string {
  const text = compact(tree).replaceAll('_', '');
  if (text === '+') return `{1,${ceiling}}`;
  if (text === '*') return `{0,${ceiling}}`;
  const body = text.slice(1, -1);
  if (/^\d+$/.test(body)) return `{${checked(Number(body), ceiling)}}`;
  const [from = '', to = ''] = body.split(',');
  return `{${checked(Number(from === '' ? 0 : from), ceiling)},${to === '' ? ceiling : checked(Number(to), ceiling)}}`;
}

function checked(hops: number, ceiling: number): number {
  if (!Number.isInteger(hops) || hops > ceiling)
    throw refuse(`A quantifier of a path may allow at most ${ceiling} relationships`);
  return hops;
}
