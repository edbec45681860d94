/** Splits a list into parts of at most `size` items. The default is the maximum for one transaction. */
export function batches<T>(items: readonly T[], size = 500): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
