/** The elements that can have a vector. Chunks of documents are entities. */
export type VectorKind = 'entity' | 'fact' | 'relationship';

/** Returns the key of an element's vectors and notes. */
export function elementKey(projectId: string, kind: VectorKind, id: string): string {
  return JSON.stringify([projectId, kind, id]);
}
