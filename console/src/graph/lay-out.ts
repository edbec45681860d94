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
 * Returns a column and a row for each node. Nodes follow their predecessors, and in a flow all of them; unconnected nodes
 * are below the others.
 */
export function layOut(nodes: readonly GraphNode[], edges: readonly GraphEdge[], isFlow = false) {
  const known = new Set(nodes.map(({ id }) => id));
  const usable = edges.filter(({ from, to }) => known.has(from) && known.has(to) && from !== to);
  const targets = new Set(usable.map(({ to }) => to));
  // A cycle has no first node, so the first remaining one starts it.
  const order = [...nodes.filter(({ id }) => !targets.has(id)), ...nodes].map(({ id }) => id);
  const column = isFlow ? columnsOfFlow(order, usable) : columnsByDistance(order, usable);
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

function columnsByDistance(order: readonly string[], edges: readonly GraphEdge[]): Map<string, number> {
  const column = new Map<string, number>();
  for (const id of order) {
    if (column.has(id)) continue;
    column.set(id, 0);
    const reached = [id];
    for (let at = reached.shift(); at !== undefined; at = reached.shift()) {
      for (const { from, to } of edges) {
        if (from !== at || column.has(to)) continue;
        column.set(to, (column.get(at) ?? 0) + 1);
        reached.push(to);
      }
    }
  }
  return column;
}

/** The column is the length of the longest way to a node. An edge that closes a cycle does not count. */
function columnsOfFlow(order: readonly string[], edges: readonly GraphEdge[]): Map<string, number> {
  const column = new Map<string, number>();
  const visited = new Set<string>();
  const sorted: string[] = [];
  const visit = (id: string): void => {
    if (visited.has(id)) return;
    visited.add(id);
    for (const { from, to } of edges) if (from === id) visit(to);
    sorted.unshift(id);
  };
  for (const id of order) visit(id);
  const place = new Map(sorted.map((id, at) => [id, at]));
  for (const id of sorted) {
    const before = edges.filter(({ from, to }) => to === id && (place.get(from) ?? 0) < (place.get(id) ?? 0));
    column.set(id, Math.max(0, ...before.map(({ from }) => (column.get(from) ?? 0) + 1)));
  }
  return column;
}
