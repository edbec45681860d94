import neo4j from 'neo4j-driver';
import { inWriteTransaction, type Connection } from './sessions.js';

const removedAtOnce = 1000;

/** Selects all contents of a project except its ProjectState: by project, and by the beginning of the key. */
const contents = [
  'MATCH (n:_Scoped {project_id: $projectId})',
  'MATCH (n:_Vector {project: $projectId})',
  'MATCH (n:_UnembeddedLink {project: $projectId})',
  'MATCH (n:Sealed) WHERE n.key STARTS WITH $prefix',
  'MATCH (n:SavedPart) WHERE n.key STARTS WITH $prefix',
  'MATCH (n:EntityAlias) WHERE n.key STARTS WITH $prefix',
  'MATCH (n:EntityMerge) WHERE n.key STARTS WITH $path',
] as const;

/**
 * Removes the graph and the vectors of a deleted project, in batches. Its ProjectState stays without content and
 * refuses writes of calls that began earlier. Safe to repeat.
 */
export async function removeProjectGraph(graph: Connection, projectId: string, signal: AbortSignal): Promise<void> {
  const parameters = { projectId, prefix: `[${JSON.stringify(projectId)},`, path: `${projectId}/` };
  await inWriteTransaction(graph, projectId, (tx) =>
    tx.run(
      'MERGE (s:ProjectState {key: $projectId}) SET s = {key: $projectId, deleted: true, embedding_off: true}',
      parameters,
    ),
  );
  for (const pattern of contents) {
    for (let last = removedAtOnce; last >= removedAtOnce;) {
      signal.throwIfAborted();
      last = await inWriteTransaction(graph, projectId, async (tx) => {
        const { records } = await tx.run(`${pattern} WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS removed`, {
          ...parameters,
          limit: neo4j.int(removedAtOnce),
        });
        return Number(records[0]?.get('removed'));
      });
    }
  }
}
