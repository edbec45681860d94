import neo4j, { type ManagedTransaction } from 'neo4j-driver';
import { lockProject, unlessDeleted } from '../ontology/state.js';
import { inReadTransaction, inWriteTransaction, type Connection } from '../store/sessions.js';
import { defaultAnalyzer, indexing, labels, type Analyzer } from './analyzers.js';
import { firstCursor, setLanguageState, type IndexingCursor } from './state.js';

const pageSize = 2000;

/** Returns the projects whose full-text index has to be completed. */
export function projectsToIndex(graph: Connection): Promise<string[]> {
  return inReadTransaction(graph, async (tx) => {
    const { records } = await tx.run('MATCH (s:ProjectState) WHERE s.analyzer_next IS NOT NULL RETURN s.key AS id');
    return records.map((record) => record.get('id') as string);
  });
}

/**
 * Adds the next nodes to the new index, or removes them from the other ones. Safe to repeat. Returns whether all is
 * complete.
 */
export function indexNext(graph: Connection, projectId: string): Promise<boolean> {
  const page = inWriteTransaction(graph, projectId, async (tx) => {
    const { next } = (await lockProject(tx, projectId)).language;
    const cursor = await readCursor(tx, projectId);
    if (next === null || cursor === null) return true;
    const last = await indexPage(tx, projectId, next, cursor);
    const following = last === null ? nextCursor(cursor) : { ...cursor, id: last };
    await setLanguageState(tx, projectId, {
      analyzer_cursor: following && JSON.stringify(following),
      ...(following?.phase !== 'add' && { analyzer: next }),
      ...(following === null && { analyzer_next: null }),
    });
    return following === null;
  });
  return unlessDeleted(page, true);
}

function nextCursor({ phase, kind }: IndexingCursor): IndexingCursor | null {
  if (kind === 'Entity') return { ...firstCursor(phase), kind: 'Fact' };
  return phase === 'add' ? firstCursor('remove') : null;
}

async function readCursor(tx: ManagedTransaction, projectId: string): Promise<IndexingCursor | null> {
  const { records } = await tx.run('MATCH (s:ProjectState {key: $projectId}) RETURN s.analyzer_cursor AS cursor', {
    projectId,
  });
  const cursor: unknown = records[0]?.get('cursor');
  return typeof cursor === 'string' ? (JSON.parse(cursor) as IndexingCursor) : null;
}

/** Indexes one page. Returns the id of its last node, or null after the last page. */
async function indexPage(
  tx: ManagedTransaction,
  projectId: string,
  analyzer: Analyzer,
  { phase, kind, id }: IndexingCursor,
): Promise<string | null> {
  const others = Object.entries(labels).flatMap(([other, label]) => (other === analyzer ? [] : [`n:${label}`]));
  const own = analyzer === defaultAnalyzer ? '' : indexing('n', [analyzer]).slice(2);
  const change = phase === 'remove' ? `REMOVE ${others.join(', ')}` : own && `SET ${own}`;
  const { records } = await tx.run(
    `MATCH (n:${kind}) WHERE n.project_id = $projectId AND n.id > $id
     WITH n ORDER BY n.project_id, n.id LIMIT $limit ${change} WITH n.id AS id RETURN max(id) AS last`,
    { projectId, id, limit: neo4j.int(pageSize) },
  );
  return (records[0]?.get('last') as string | null | undefined) ?? null;
}
