import { inReadTransaction, withSession, type Connection } from '../store/sessions.js';

/**
 * Returns the projects that have something to embed, or vectors of another generation. Needs one index lookup per
 * project.
 */
export function projectsToEmbed(graph: Connection, generation: string): Promise<string[]> {
  return inReadTransaction(graph, async (tx) => {
    const { records } = await tx.run(
      `MATCH (s:ProjectState)
       WHERE s.embedding_off IS NULL AND (
         s.embedding_generation IS NULL OR s.embedding_generation <> $generation
         OR s.embedding_building IS NOT NULL OR s.embedding_stale IS NOT NULL
         OR EXISTS { MATCH (n:_Unembedded {project_id: s.key}) }
         OR EXISTS { MATCH (l:_UnembeddedLink {project: s.key}) })
       RETURN s.key AS id`,
      { generation },
    );
    return records.map((record) => record.get('id') as string);
  });
}

/** Excludes deleted projects from further work. */
export async function stopEmbedding({ writer }: Connection, projectIds: readonly string[]): Promise<void> {
  if (projectIds.length === 0) return;
  await withSession(writer.session(), (session) =>
    session.executeWrite((tx) =>
      tx.run('UNWIND $ids AS id MATCH (s:ProjectState {key: id}) SET s.embedding_off = true', { ids: [...projectIds] }),
    ),
  );
}
