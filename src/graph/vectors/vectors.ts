import neo4j, { type ManagedTransaction } from 'neo4j-driver';
import { vectorLabel } from './generation.js';
import type { ElementToEmbed } from './notes.js';

/** A note and its result. `vector` is null if the present vector is still correct, or the text is empty. */
export interface EmbeddedNote extends ElementToEmbed {
  /** The digest of the text. */
  hash: string;
  vector: readonly number[] | null;
  /** Whether the element has no vector, because it has no text or the endpoint refused the text. */
  isRemoved: boolean;
}

interface KnownVector {
  element: string;
  hash: string;
  vector: number[];
}

/** Returns the vectors of the generation that the noted elements already have. */
export async function readVectors(
  tx: ManagedTransaction,
  generation: string,
  elements: readonly string[],
): Promise<KnownVector[]> {
  const { records } = await tx.run(
    `UNWIND $elements AS element MATCH (v:_Vector {element: element}) WHERE v.generation = $generation
     RETURN v.element AS element, v.hash AS hash, v.embedding AS vector`,
    { elements: [...elements], generation },
  );
  return records.map((record) => record.toObject() as unknown as KnownVector);
}

/**
 * Writes vectors and removes the notes. Ignores a note whose element was deleted or changed since it was read, so that
 * no vector belongs to another text. Call only under the lock of the project. Returns the number of removed notes.
 */
export async function writeVectors(
  tx: ManagedTransaction,
  projectId: string,
  generation: string,
  notes: readonly EmbeddedNote[],
): Promise<number> {
  const held = await takeNotes(tx, projectId, notes);
  const current = notes.filter(({ element }) => held.has(element));
  const gone = current.filter(({ isRemoved }) => isRemoved).map(({ element }) => element);
  if (gone.length > 0) await tx.run('UNWIND $gone AS element MATCH (v:_Vector {element: element}) DELETE v', { gone });
  const rows = current.flatMap(({ element, kind, id, hash, vector, link }) => {
    const { from = null, type = null, to = null } = link ?? {};
    return vector === null ? [] : [{ element, vector, of: { project: projectId, kind, id, hash, from, type, to } }];
  });
  if (rows.length > 0)
    await tx.run(
      `UNWIND $rows AS row MERGE (v:_Vector {element: row.element, generation: $generation})
       SET v += row.of, v:${vectorLabel(generation)}
       WITH v, row CALL db.create.setNodeVectorProperty(v, 'embedding', row.vector)`,
      { rows, generation },
    );
  return held.size;
}

/** Removes the notes that still refer to the same text, and returns their elements. */
async function takeNotes(
  tx: ManagedTransaction,
  projectId: string,
  notes: readonly EmbeddedNote[],
): Promise<ReadonlySet<string>> {
  const taken = new Set<string>();
  for (const [kind, label] of [
    ['entity', 'Entity'],
    ['fact', 'Fact'],
  ] as const) {
    const rows = notes.filter((note) => note.kind === kind).map(({ element, id, text }) => ({ element, id, text }));
    if (rows.length === 0) continue;
    const { records } = await tx.run(
      `UNWIND $rows AS row MATCH (n:${label} {project_id: $projectId, id: row.id})
       WHERE n:_Unembedded AND coalesce(n._search, '') = row.text REMOVE n:_Unembedded RETURN row.element AS element`,
      { rows, projectId },
    );
    for (const record of records) taken.add(record.get('element') as string);
  }
  const links = notes.flatMap(({ element, link }) => (link ? [{ element, stamp: link.stamp }] : []));
  if (links.length === 0) return taken;
  const { records } = await tx.run(
    `UNWIND $links AS row MATCH (l:_UnembeddedLink {key: row.element}) WHERE l.stamp = row.stamp
     DELETE l RETURN row.element AS element`,
    { links },
  );
  for (const record of records) taken.add(record.get('element') as string);
  return taken;
}

const removedAtOnce = 1000;

/** Removes some vectors of other generations. Returns whether there may be more. */
export async function removeOtherVectors(
  tx: ManagedTransaction,
  projectId: string,
  generation: string,
): Promise<boolean> {
  const { records } = await tx.run(
    `MATCH (v:_Vector {project: $projectId}) WHERE v.generation <> $generation WITH v LIMIT $limit DELETE v
     RETURN count(*) AS removed`,
    { projectId, generation, limit: neo4j.int(removedAtOnce) },
  );
  return Number(records[0]?.get('removed')) >= removedAtOnce;
}
