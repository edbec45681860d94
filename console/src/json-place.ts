import { findNodeAtLocation, parseTree } from 'jsonc-parser';

/** A range of a text. The end is exclusive. */
export type Place = readonly [start: number, end: number];

/**
 * Returns the range of the value at a path in a valid JSON text, or of its innermost existing ancestor:
 * `placeIn('[{"a": 1}]', [0, 'a'])` returns the range of `1`.
 */
export function placeIn(text: string, path: readonly (string | number)[]): Place {
  let node = parseTree(text);
  for (const step of path) {
    const inner = node && findNodeAtLocation(node, [node.type === 'array' ? Number(step) : String(step)]);
    if (!inner) break;
    node = inner;
  }
  return node ? [node.offset, node.offset + node.length] : [0, text.length];
}
