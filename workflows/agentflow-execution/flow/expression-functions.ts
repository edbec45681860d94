import type { Environment } from '@marcbachmann/cel-js';

/**
 * Functions of expressions that the library does not have: conversions of the CEL specification, and functions of the
 * extensions of cel-go (https://github.com/google/cel-go/tree/master/ext) and of Kubernetes
 * (https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-list-library), under the names and with the meaning that they have there.
 */

/** Counts the work of a function before it begins. @throws if it is too much */
export type CountSteps = (steps: number) => void;

/** Building or reading this many characters counts as one step. */
export const charactersPerStep = 100;
const comparisonsPerStep = 10;

/** Integers of an expression are bigints, and numbers of JSON are numbers. */
type CelNumber = bigint | number;

const timestamp = 'google.protobuf.Timestamp';
const duration = 'google.protobuf.Duration';
/** The first and the last time of the CEL specification, in milliseconds: the years 1 and 9999. */
const timeRange = { first: -62_135_596_800_000, last: 253_402_300_799_999 };

export function registerFunctions(environment: Environment, count: CountSteps): void {
  registerConversions(environment);
  registerTextFunctions(environment, count);
  registerListFunctions(environment, count);
}

/** Only the namespace of these functions is a name, which a flow of an earlier release can have given to its items. */
export function registerMath(environment: Environment, count: CountSteps): void {
  class MathNamespace {}
  environment.registerType('MathNamespace', MathNamespace);
  environment.registerConstant('math', 'MathNamespace', new MathNamespace());
  const choose = (isBetter: (a: Comparable, b: Comparable) => boolean, name: string) => {
    const best = (values: unknown[]) => bestOf(values, isBetter, `math.${name}`, count);
    environment.registerFunction(`MathNamespace.${name}(dyn): dyn`, (_: unknown, value: unknown) =>
      best(Array.isArray(value) ? value : [value]),
    );
    environment.registerFunction(`MathNamespace.${name}(dyn, dyn): dyn`, (_: unknown, a: unknown, b: unknown) =>
      best([a, b]),
    );
  };
  choose((a, b) => a > b, 'greatest');
  choose((a, b) => a < b, 'least');
  const rounding: Readonly<Record<string, (value: number) => number>> = {
    // Math.round rounds -1.5 to -1.
    round: (value) => Math.sign(value) * Math.round(Math.abs(value)),
    floor: Math.floor,
    ceil: Math.ceil,
    trunc: Math.trunc,
  };
  for (const [name, compute] of Object.entries(rounding)) {
    environment.registerFunction(`MathNamespace.${name}(double): double`, (_: unknown, value: number) =>
      compute(value),
    );
    environment.registerFunction(`MathNamespace.${name}(int): int`, (_: unknown, value: bigint) => value);
  }
  environment.registerFunction('MathNamespace.abs(double): double', (_: unknown, value: number) => Math.abs(value));
  environment.registerFunction('MathNamespace.abs(int): int', (_: unknown, value: bigint) =>
    value < 0n ? -value : value,
  );
}

function registerConversions(environment: Environment): void {
  environment.registerFunction(`string(${timestamp}): string`, (at: Date) => at.toISOString());
  environment.registerFunction(`string(${duration}): string`, (length: { toString(): string }) => length.toString());
  environment.registerFunction(`int(${timestamp}): int`, (at: Date) => BigInt(Math.floor(at.getTime() / 1000)));
  environment.registerFunction(`timestamp(${timestamp}): ${timestamp}`, (at: Date) => at);
  environment.registerFunction(`timestamp(double): ${timestamp}`, (seconds: number) => {
    const ms = seconds * 1000;
    if (ms >= timeRange.first && ms <= timeRange.last) return new Date(ms);
    throw new Error(`timestamp() requires seconds since 1970 within the years 1 to 9999, not ${seconds}`);
  });
}

function registerTextFunctions(environment: Environment, count: CountSteps): void {
  environment.registerFunction(
    'string.replace(string, string): string',
    (text: string, search: string, replacement: string) => {
      const found = search === '' ? text.length + 1 : text.split(search).length - 1;
      const length = text.length + found * (replacement.length - search.length);
      count(Math.ceil((text.length + length) / charactersPerStep));
      return text.replaceAll(search, () => replacement);
    },
  );
  acceptNumbersAsPositions(environment);
}

/** Positions in texts are integers in CEL, and numbers of JSON are not. */
function acceptNumbersAsPositions(environment: Environment): void {
  const pairs = [
    ['double', 'double'],
    ['double', 'int'],
    ['int', 'double'],
  ];
  const substring = (text: string, from: CelNumber, to: CelNumber = BigInt(text.length)) => {
    const [start, end] = [position(from, 'substring()'), position(to, 'substring()')];
    if (start < 0 || end < start || end > text.length) throw new Error('substring() has a position outside the text');
    return text.substring(start, end);
  };
  environment.registerFunction('string.substring(double): string', substring);
  for (const [from, to] of pairs) environment.registerFunction(`string.substring(${from}, ${to}): string`, substring);
  environment.registerFunction('string.indexOf(string, double): int', (text: string, search: string, from: number) =>
    BigInt(text.indexOf(search, position(from, 'indexOf()'))),
  );
  environment.registerFunction(
    'string.lastIndexOf(string, double): int',
    (text: string, search: string, from: number) => BigInt(text.lastIndexOf(search, position(from, 'lastIndexOf()'))),
  );
  environment.registerFunction(
    'string.split(string, double): list<string>',
    (text: string, separator: string, limit: number) => {
      const parts = text.split(separator);
      const most = position(limit, 'split()');
      if (most === 0) return [];
      if (most < 0 || parts.length <= most) return parts;
      return [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)];
    },
  );
}

function registerListFunctions(environment: Environment, count: CountSteps): void {
  environment.registerFunction('list.sum(): dyn', (list: unknown[]) => {
    count(list.length);
    return sumOf(list);
  });
  const largest = (list: unknown[]) => bestOf(list, (a, b) => a > b, 'max()', count);
  const smallest = (list: unknown[]) => bestOf(list, (a, b) => a < b, 'min()', count);
  environment.registerFunction('list.max(): dyn', largest);
  environment.registerFunction('list.min(): dyn', smallest);
  environment.registerFunction('list.sort(): list', (list: unknown[]) => {
    count(Math.ceil((list.length * Math.log2(list.length + 1)) / comparisonsPerStep));
    const comparable = comparableOf(list, 'sort()');
    return [...comparable].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  });
  environment.registerFunction('list.reverse(): list', (list: unknown[]) => {
    count(list.length);
    return [...list].reverse();
  });
  environment.registerFunction('list.distinct(): list', (list: unknown[]) => {
    const known = new Set<string>();
    return list.filter((value) => {
      const text = textOf(value);
      count(Math.ceil(text.length / charactersPerStep));
      return !known.has(text) && known.add(text);
    });
  });
  environment.registerFunction('list.flatten(): list', (list: unknown[]) => {
    count(list.reduce<number>((sum, value) => sum + (Array.isArray(value) ? value.length : 1), 0));
    return list.flat(1);
  });
  const slice = (list: unknown[], from: CelNumber, to: CelNumber) => {
    const [start, end] = [position(from, 'slice()'), position(to, 'slice()')];
    if (start < 0 || end < start || end > list.length)
      throw new Error(`slice() has a position outside the list, which has ${list.length} items`);
    count(end - start);
    return list.slice(start, end);
  };
  for (const from of ['int', 'double'])
    for (const to of ['int', 'double']) environment.registerFunction(`list.slice(${from}, ${to}): list`, slice);
}

function position(value: CelNumber, where: string): number {
  const number = Number(value);
  if (Number.isInteger(number)) return number;
  throw new Error(`${where} requires an integer, not ${number}`);
}

function isCelNumber(value: unknown): value is CelNumber {
  return typeof value === 'bigint' || typeof value === 'number';
}

/** An integer if all numbers are integers of the expression. The sum of no numbers is 0. */
function sumOf(list: readonly unknown[]): CelNumber {
  if (!list.every(isCelNumber)) throw new Error('sum() requires a list of numbers');
  const integers = list.filter((value) => typeof value === 'bigint');
  if (integers.length === list.length) return integers.reduce((sum, value) => sum + value, 0n);
  return list.reduce<number>((sum, value) => sum + Number(value), 0);
}

type Comparable = CelNumber | string | Date;

/** @throws unless all values are numbers, all are texts, or all are times */
function comparableOf(list: readonly unknown[], where: string): readonly Comparable[] {
  if (list.every(isCelNumber)) return list;
  if (list.every((value) => typeof value === 'string')) return list;
  if (list.every((value) => value instanceof Date)) return list;
  throw new Error(`${where} requires a list whose values are all numbers, all texts or all times`);
}

function bestOf(
  list: readonly unknown[],
  isBetter: (a: Comparable, b: Comparable) => boolean,
  where: string,
  count: CountSteps,
): Comparable {
  count(list.length);
  const [first, ...others] = comparableOf(list, where);
  if (first === undefined) throw new Error(`${where} requires a list with at least one value`);
  return others.reduce((best, value) => (isBetter(value, best) ? value : best), first);
}

/** The same text for equal values: 1 equals 1.0, and the fields of objects have no order. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown): unknown => {
    if (typeof each === 'bigint') return Number(each);
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    const entries = each instanceof Map ? [...each] : Object.entries(each);
    return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
  });
}
