/** What can have a vector. Chunks of documents are entities. */
export type VectorKind = 'entity' | 'fact' | 'relationship';

/** The key of an element's vectors and notes. */
export function elementKey(projectId: string, kind: VectorKind, id: string): string {
  return JSON.stringify([projectId, kind, id]);
}
