/** A list in parts of at most `size`, by default as many as one transaction takes. */
export function batches<T>(items: readonly T[], size = 500): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
