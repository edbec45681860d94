import neo4j, { type ManagedTransaction } from 'neo4j-driver';
import type { Ranked } from './rank.js';

/** Returns the beginning of the searchable text of each entity, in order. The text contains no personal values. */
export async function readTexts(
  tx: ManagedTransaction,
  ranked: readonly Ranked[],
  maxLength: number,
): Promise<string[]> {
  const { records } = await tx.run(
    `UNWIND range(0, size($keys) - 1) AS at WITH at, $keys[at] AS key
     OPTIONAL MATCH (n:Entity {project_id: key.project, id: key.id})
     RETURN left(coalesce(n._search, ''), $maxLength) AS text ORDER BY at`,
    { keys: ranked.map(({ entity: { project, id } }) => ({ project, id })), maxLength: neo4j.int(maxLength) },
  );
  return records.map((record) => record.get('text') as string);
}
