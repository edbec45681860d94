import neo4j from 'neo4j-driver';
import { sha256Hex } from '../../base/hash.js';
import { withSession, type Connection } from '../store/sessions.js';

/** The vectors of one model and length. Each generation has its own label and vector index. */
export interface Generation {
  /** A text of 12 hexadecimal digits. */
  id: string;
  model: string;
  dimensions: number;
}

export function generationOf({ model, dimensions }: { model: string; dimensions: number }): Generation {
  return { id: sha256Hex(JSON.stringify([model, dimensions])).slice(0, 12), model, dimensions };
}

/**
 * Returns the label in backticks. The id must contain only hexadecimal digits, because labels and indexes cannot be
 * parameters.
 */
export const vectorLabel = (id: string) => `\`_Vector_${hexadecimal(id)}\``;
export const vectorIndex = (id: string) => `vectors_${hexadecimal(id)}`;

function hexadecimal(id: string): string {
  if (!/^[0-9a-f]{12}$/.test(id)) throw new Error('not the id of a generation');
  return id;
}

/**
 * Creates the index of the generation. Safe to repeat. Indexes are never dropped: an empty one costs almost nothing, and
 * a project could begin its generation while another process drops the index.
 */
export async function createGeneration({ writer }: Connection, { id, model, dimensions }: Generation): Promise<void> {
  await withSession(writer.session(), async (session) => {
    await session.executeWrite((tx) =>
      tx.run(
        `CREATE VECTOR INDEX ${vectorIndex(id)} IF NOT EXISTS FOR (v:${vectorLabel(id)}) ON (v.embedding)
         OPTIONS {indexConfig: {\`vector.dimensions\`: ${dimensions}, \`vector.similarity_function\`: 'cosine'}}`,
      ),
    );
    await session.executeWrite((tx) =>
      tx.run('MERGE (g:_Generation {key: $id}) SET g.model = $model, g.dimensions = $dimensions', {
        id,
        model,
        dimensions: neo4j.int(dimensions),
      }),
    );
  });
}
