export interface GraphNode {
  id: string;
  title: string;
  /** The second line of the node. */
  detail?: string;
}

export interface GraphEdge {
  from: string;
  to: string;
  label?: string;
}

/**
 * Returns a column and a row for each node. Nodes follow their predecessors; unconnected nodes are below the others.
 */
export function layOut(nodes: readonly GraphNode[], edges: readonly GraphEdge[]) {
  const known = new Set(nodes.map(({ id }) => id));
  const usable = edges.filter(({ from, to }) => known.has(from) && known.has(to) && from !== to);
  const targets = new Set(usable.map(({ to }) => to));
  const column = new Map<string, number>();
  // A cycle has no first node, so the first remaining one starts it.
  const order = [...nodes.filter(({ id }) => !targets.has(id)), ...nodes];
  for (const { id } of order) {
    if (column.has(id)) continue;
    column.set(id, 0);
    const reached = [id];
    for (let at = reached.shift(); at !== undefined; at = reached.shift()) {
      for (const { from, to } of usable) {
        if (from !== at || column.has(to)) continue;
        column.set(to, (column.get(at) ?? 0) + 1);
        reached.push(to);
      }
    }
  }
  const rows = new Map<number, number>();
  return new Map(
    nodes.map(({ id }) => {
      const at = column.get(id) ?? 0;
      const row = rows.get(at) ?? 0;
      rows.set(at, row + 1);
      return [id, { column: at, row }];
    }),
  );
}
