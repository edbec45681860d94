/** The values that a list has more than once, each once. */
export function repeated(values: readonly string[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const value of values) (seen.has(value) ? twice : seen).add(value);
  return [...twice];
}

/** The cycles among nodes, each once, as the ids on the way back to the first one. `next` has the pointers of each node. */
export function cyclesIn(next: ReadonlyMap<string, readonly string[]>): string[][] {
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (id: string, walked: readonly string[]): void => {
    const start = walked.indexOf(id);
    if (start >= 0) {
      cycles.push([...walked.slice(start), id]);
      return;
    }
    if (done.has(id)) return;
    for (const to of next.get(id) ?? []) visit(to, [...walked, id]);
    done.add(id);
  };
  for (const id of next.keys()) visit(id, []);
  return cycles;
}
