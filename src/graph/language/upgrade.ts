import neo4j, { type ManagedTransaction, type Node } from 'neo4j-driver';
import { isOwnProperty } from '../store/entities.js';
import { mentionProperties } from '../store/mention-properties.js';
import { fromStored } from '../store/values.js';
import { searchedProperties } from './searched.js';
import { setLanguageState } from './state.js';

/*
 * The words of a node are stored when it is saved. A release that divides texts into other words raises `wordsVersion`. Its
 * first start marks the projects of earlier releases, and a workflow stores their words again, page by page (decision 0126).
 */
export const wordsVersion = 1;

/** Selects `(s:ProjectState)` of an earlier release. */
export const hasEarlierWords = `s.deleted IS NULL AND coalesce(s.words_version, 0) < $wordsVersion`;

const pageSize = 500;

interface WordsCursor {
  kind: 'Entity' | 'Fact';
  id: string;
}

export const firstWordsCursor = JSON.stringify({ kind: 'Entity', id: '' } satisfies WordsCursor);

/** Stores the words of the next nodes. Returns whether all are stored. Call only under the lock of the project. */
export async function storeNextWords(tx: ManagedTransaction, projectId: string): Promise<boolean> {
  const { records } = await tx.run('MATCH (s:ProjectState {key: $projectId}) RETURN s.words_cursor AS cursor', {
    projectId,
  });
  const stored: unknown = records[0]?.get('cursor');
  if (typeof stored !== 'string') return true;
  const { kind, id } = JSON.parse(stored) as WordsCursor;
  const last = await storeWords(tx, projectId, kind, id);
  const next: WordsCursor | null =
    last !== null ? { kind, id: last } : kind === 'Entity' ? { kind: 'Fact', id: '' } : null;
  await setLanguageState(
    tx,
    projectId,
    next ? { words_cursor: JSON.stringify(next) } : { words_cursor: null, words_version: wordsVersion },
  );
  return next === null;
}

async function storeWords(
  tx: ManagedTransaction,
  projectId: string,
  kind: WordsCursor['kind'],
  after: string,
): Promise<string | null> {
  const { records } = await tx.run(
    `MATCH (n:${kind}) WHERE n.project_id = $projectId AND n.id > $after
     RETURN n ORDER BY n.project_id, n.id LIMIT $limit`,
    { projectId, after, limit: neo4j.int(pageSize) },
  );
  const nodes = records.map((record) => (record.get('n') as Node).properties as Record<string, unknown>);
  const rows = nodes.map((properties) => ({ id: properties.id, words: wordsOf(kind, properties) }));
  await tx.run(`UNWIND $rows AS row MATCH (n:${kind} {project_id: $projectId, id: row.id}) SET n += row.words`, {
    projectId,
    rows,
  });
  return (nodes.at(-1)?.id as string | undefined) ?? null;
}

function wordsOf(kind: WordsCursor['kind'], properties: Record<string, unknown>): object {
  const { _search: text, name } = properties;
  if (typeof text !== 'string') return {};
  if (kind === 'Fact' || typeof name !== 'string') return searchedProperties(text);
  return { ...searchedProperties(text, name), ...mentionProperties(name, fromStored(properties, isOwnProperty)) };
}
