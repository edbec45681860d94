import type { ManagedTransaction } from 'neo4j-driver';
import { epochSeconds } from '../../base/time.js';
import { firstNoting, type NotingCursor } from './notes.js';

/** The state of a project's embedding. The ProjectState contains it. */
export interface EmbeddingState {
  /** The id of the generation that searches use, or null before the first one is complete. */
  generation: string | null;
  /** The id of the generation that is being built. */
  building: string | null;
  /** The position where noting the elements for the new generation continues. Null when all are noted. */
  cursor: NotingCursor | null;
  /** Whether changes were not noted for some time, because no endpoint was configured. */
  isStale: boolean;
  /** The time when building the new generation began, in epoch seconds. */
  since: number | null;
  /** The last text that the endpoint refused in this generation, which has no vector. */
  refused: string | null;
  /** The last failure, or null if the last work succeeded. */
  error: { message: string; at: number } | null;
}

const names = ['generation', 'building', 'cursor', 'stale', 'since', 'refused', 'error', 'error_at'] as const;
const returned = names.map((name) => `s.embedding_${name} AS ${name}`).join(', ');

export async function readEmbeddingState(tx: ManagedTransaction, projectId: string): Promise<EmbeddingState> {
  const { records } = await tx.run(`MATCH (s:ProjectState {key: $projectId}) RETURN ${returned}`, { projectId });
  const get = (name: (typeof names)[number]) => (records[0]?.get(name) ?? null) as unknown;
  const cursor = get('cursor');
  const error = get('error');
  return {
    generation: get('generation') as string | null,
    building: get('building') as string | null,
    cursor: typeof cursor === 'string' ? (JSON.parse(cursor) as NotingCursor) : null,
    isStale: get('stale') === true,
    since: get('since') as number | null,
    refused: get('refused') as string | null,
    error: typeof error === 'string' ? { message: error, at: Number(get('error_at')) } : null,
  };
}

/** Returns whether the project's vectors are those of `generation` and nothing else is being built. */
export function isCurrent({ generation, building, isStale }: EmbeddingState, current: string): boolean {
  return generation === current && building === null && !isStale;
}

/** Sets values; null removes a value. Call only under the lock of the project. */
async function setState(
  tx: ManagedTransaction,
  projectId: string,
  values: Partial<Record<(typeof names)[number], string | number | boolean | null>>,
): Promise<void> {
  const properties = Object.fromEntries(Object.entries(values).map(([name, value]) => [`embedding_${name}`, value]));
  await tx.run('MATCH (s:ProjectState {key: $projectId}) SET s += $properties', { projectId, properties });
}

/**
 * Begins a generation, for which all elements are noted from the first one on. Abandons a generation that a process
 * with another model began.
 */
export function beginGeneration(tx: ManagedTransaction, projectId: string, id: string): Promise<void> {
  const cursor = JSON.stringify(firstNoting);
  return setState(tx, projectId, { building: id, cursor, stale: null, refused: null, since: epochSeconds() });
}

export function setCursor(tx: ManagedTransaction, projectId: string, cursor: NotingCursor | null): Promise<void> {
  return setState(tx, projectId, { cursor: cursor && JSON.stringify(cursor) });
}

/** Makes searches use this generation. */
export function completeGeneration(tx: ManagedTransaction, projectId: string, id: string): Promise<void> {
  return setState(tx, projectId, { generation: id, building: null, cursor: null, since: null });
}

const maxErrorLength = 500;

export function setRefused(tx: ManagedTransaction, projectId: string, message: string): Promise<void> {
  return setState(tx, projectId, { refused: message.slice(0, maxErrorLength) });
}

/** Records a failure. Null means that the work succeeded. */
export function setEmbeddingError(tx: ManagedTransaction, projectId: string, message: string | null): Promise<void> {
  return setState(tx, projectId, {
    error: message?.slice(0, maxErrorLength) ?? null,
    error_at: message === null ? null : epochSeconds(),
  });
}
