import {
  aggregatedOf,
  elementIn,
  heaviestOf,
  combinedSize,
  largerOf,
  listOf,
  namesOfElement,
  scalar,
  textOf,
  type Size,
} from './sizes.js';
import type { Surroundings, Weighed } from './weighing.js';

type FunctionWork = (args: readonly Size[], at: Surroundings) => Weighed;

const total = (args: readonly Size[]) => args.reduce((sum, { weight }) => sum + weight, 0);
const first = (args: readonly Size[]): Size => args[0] ?? scalar;
const second = (args: readonly Size[]): Size => args[1] ?? scalar;

const toScalar: FunctionWork = (args) => ({ size: scalar, steps: 1 + total(args) / 8 });
/** The time to read a number grows with the square of its digits. */
const digitSteps = (digits: number) => (digits / 30) ** 2;
const toNumber: FunctionWork = (args) => ({ size: scalar, steps: 1 + digitSteps(total(args)) });
const sameSize: FunctionWork = (args) => ({ size: first(args), steps: 1 + total(args) / 16 });
const anElement: FunctionWork = (args) => ({ size: heaviestOf(first(args)), steps: 1 });
const elements: FunctionWork = (args, { graph }) => ({
  size: listOf(first(args).length, elementIn(graph)),
  steps: 1 + first(args).length,
});
const texts: FunctionWork = (args) => ({
  size: listOf(first(args).length, textOf(Math.max(64, first(args).each))),
  steps: 1 + total(args) * 2,
});
const asText: FunctionWork = (args) => ({
  size: textOf(Math.max(64, first(args).weight * 2)),
  steps: 1 + total(args) / 4,
});
const anyOf: FunctionWork = (args) => ({ size: args.reduce(largerOf, scalar), steps: 1 });
const constant: FunctionWork = () => ({ size: scalar, steps: 1 });

/**
 * The result size and the steps of each function. A function that is not listed returns a scalar, such as a number or a
 * time.
 */
const functions: Readonly<Record<string, FunctionWork>> = {
  ...each('tolower lower toupper upper ltrim rtrim btrim trim left right substring reverse tail nullif', sameSize),
  ...each('size length char_length character_length isempty id elementid type count exists', constant),
  ...each('tointeger tointegerornull tofloat tofloatornull', toNumber),
  ...each('tointegerlist tofloatlist', (args, at) => {
    const { size, steps } = texts(args, at);
    return { size, steps: steps + first(args).length * digitSteps(first(args).each) };
  }),
  ...each('tobooleanlist tostringlist', texts),
  ...each('coalesce max min', anyOf),
  ...each('head last', anElement),
  ...each('nodes relationships', elements),
  ...each('startnode endnode', (_, { graph }) => ({ size: elementIn(graph), steps: 1 })),
  ...each('tostring tostringornull', asText),
  collect: (args, { rows }) => ({ size: aggregatedOf(first(args), rows), steps: 1 }),
  labels: () => ({ size: namesOfElement(), steps: 1 }),
  keys: (args) => ({
    size: first(args).stored ? namesOfElement() : listOf(first(args).length, textOf(100)),
    steps: 1 + Math.min(first(args).length, 1e6),
  }),
  properties: (args) => ({ size: { ...first(args), depth: 2, stored: undefined }, steps: 1 + first(args).length * 4 }),
  valuetype: (args) => ({ size: textOf(1000), steps: 1 + total(args) * 2 }),
  split: (args) => {
    const { weight } = first(args);
    return {
      size: { length: weight + 1, weight: 2 * weight + 1, each: weight, depth: 1 },
      steps: 1 + weight * 3 + search(args),
    };
  },
  replace: (args) => {
    // Each character, and the position before it, may be replaced.
    const weight = (first(args).weight + 1) * Math.max(1, args[2]?.weight ?? 1) + first(args).weight;
    return { size: textOf(weight), steps: 1 + search(args) + weight / 16 };
  },
};

function each(names: string, work: FunctionWork): Record<string, FunctionWork> {
  return Object.fromEntries(names.split(' ').map((name) => [name, work]));
}

/** Returns the steps of a text search. The database compares the search text at each position. */
export function search(args: readonly Size[]): number {
  return 1 + (first(args).weight * second(args).weight) / 32;
}

export function functionWork(name: string, args: readonly Size[], at: Surroundings): Weighed {
  return (functions[name] ?? toScalar)(args, at);
}

/**
 * Returns the steps of `=`, `<` and similar operators. The database compares lists by element and texts by machine
 * word.
 */
export function comparisonSteps(a: Size, b: Size): number {
  if ((a.stored && a.depth === 0) || (b.stored && b.depth === 0)) return 1;
  const least = Math.min(a.weight, b.weight);
  return 1 + (a.depth > 0 && b.depth > 0 ? least : least / 16);
}

export function membershipSteps(value: Size, list: Size): number {
  const compared = Math.min(list.length * value.weight, list.weight);
  return 1 + list.length + (value.depth > 0 && list.depth > 1 ? compared : compared / 16);
}

/** Returns the result of `+` and `||`. */
export function additionOf(a: Size, b: Size): Weighed {
  const size = combinedSize(a, b);
  return { size, steps: 1 + size.weight / (size.depth > 0 ? 16 : 128) };
}
