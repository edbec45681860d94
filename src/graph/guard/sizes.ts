import { largestGraph, type GraphSizes } from './graph-sizes.js';

/** An upper bound of the size of a value. */
export interface Size {
  /** The number of elements of a list or map, or of characters of a text. */
  length: number;
  /** The number of characters and elements at all depths. */
  weight: number;
  /** The weight of the heaviest element. */
  each: number;
  /** The nesting depth of lists, or 0 for a value that is not a list. */
  depth: number;
  /** The sizes of the graph, if the value is a stored node or relationship, or a list of them. */
  stored?: GraphSizes | undefined;
}

/** The limits on the names of properties and labels, which the writers enforce (`save/input.ts`). */
const names = { count: 250, length: 100 };
const boundedProperties = new Map([
  ['name', 500],
  ['id', 200],
  ['type', 100],
  ['project_id', 100],
  ['predicate', 200],
  ['subject', 200],
]);

/** The maximum of an aggregated list, which the memory limit of transactions enforces. */
const aggregated = { length: 1_000_000, weight: 10_000_000 };

export const scalar: Size = { length: 1, weight: 1, each: 1, depth: 0 };
export const largestParameter: Size = { length: 524_288, weight: 1_048_576, each: 1_048_576, depth: 2 };

/** Returns the size of a stored node or relationship. */
export function elementIn(graph: GraphSizes): Size {
  return { length: names.count, weight: graph.element, each: graph.property, depth: 0, stored: graph };
}

export function textOf(length: number): Size {
  return { length, weight: Math.max(1, length), each: 1, depth: 0 };
}

export function listOf(length: number, element: Size): Size {
  const { weight, depth, stored } = element;
  // Lists of stored elements contain references.
  if (stored && depth === 0) return { length, weight: Math.max(1, length), each: 1, depth: 1, stored };
  return { length, weight: Math.max(1, length * weight), each: weight, depth: depth + 1, stored };
}

/** Returns the size of a list with an element for each of at most `rows` rows. */
export function aggregatedOf(element: Size, rows: number): Size {
  const list = listOf(Math.min(rows, aggregated.length), element);
  return { ...list, weight: Math.min(list.weight, Math.max(aggregated.weight, list.each)) };
}

export function namesOfElement(): Size {
  return listOf(names.count, textOf(names.length));
}

/** Returns the heaviest value of a list or map. `averageOf` returns one of average weight. */
export function heaviestOf(size: Size): Size {
  return elementOf(size, size.each);
}

export function averageOf(size: Size): Size {
  return elementOf(size, Math.min(size.each, Math.ceil(size.weight / Math.max(1, size.length))));
}

function elementOf({ depth, stored }: Size, weight: number): Size {
  if (stored && depth <= 1) {
    const element = elementIn(stored);
    // The list may also have other elements.
    return weight <= element.weight ? element : { ...element, length: weight, weight, each: weight };
  }
  return { length: weight, weight, each: depth > 1 ? weight : 1, depth: Math.max(0, depth - 1), stored };
}

/** @param name a literal name, or undefined for a computed one, which can also be that of an internal property */
export function propertyOf(size: Size, name: string | undefined): Size {
  const { stored, each, depth } = size;
  if (!stored) return { length: each, weight: each, each, depth: Math.max(1, depth - 1) };
  const { property, element } = stored;
  const ofElement = name === undefined ? Math.min(element, largestGraph.property) : property;
  // A map may contain stored elements, or lists of them.
  if (depth > 0) {
    const weight = Math.max(each, ofElement);
    return { length: each, weight, each: weight, depth: Math.max(1, depth - 1), stored };
  }
  const known = name === undefined ? undefined : boundedProperties.get(name);
  if (known !== undefined && each <= property) return textOf(Math.min(known, property));
  const weight = Math.max(each, ofElement);
  return { length: weight, weight, each: weight, depth: 1 };
}

/** Returns the larger size of two alternatives. */
export function largerOf(a: Size, b: Size): Size {
  return {
    length: Math.max(a.length, b.length),
    weight: Math.max(a.weight, b.weight),
    each: Math.max(a.each, b.each),
    depth: Math.max(a.depth, b.depth),
    stored: a.stored ?? b.stored,
  };
}

/** Returns the size of two values combined into one text, list or map. */
export function combinedSize(a: Size, b: Size): Size {
  const { each, depth } = largerOf(a, b);
  // A value that is not a list counts as one element when it is added to a list.
  const lengthOf = (part: Size) => (depth > 0 && part.depth === 0 ? 1 : part.length);
  return {
    length: lengthOf(a) + lengthOf(b),
    weight: a.weight + b.weight,
    each: Math.max(each, depth > 0 ? Math.min(a.weight, b.weight) : 1),
    depth,
    stored: depth > 0 ? (a.stored ?? b.stored) : undefined,
  };
}

export function sizeOfValue(value: unknown): Size {
  if (typeof value === 'string') return textOf(value.length);
  if (typeof value !== 'object' || value === null) return scalar;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== null && Object.getPrototypeOf(prototype) !== null) return scalar;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  const entries: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  let weight = entries.length + names.reduce((sum, { length }) => sum + length, 0);
  let each = 1;
  let depth = 0;
  for (const entry of entries) {
    const size = sizeOfValue(entry);
    weight += size.weight;
    if (size.weight > each) each = size.weight;
    if (size.depth > depth) depth = size.depth;
  }
  return { length: entries.length, weight: Math.max(1, weight), each, depth: depth + 1 };
}
