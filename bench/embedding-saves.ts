import { newId } from '../src/base/ids.js';
import { save } from '../src/graph/save/save.js';
import { prepareGraph } from '../src/graph/store/schema.js';
import { epochSeconds } from '../src/base/time.js';
import { createGraph } from '../src/stores/neo4j.js';
import type { BenchEnvironment } from './environment.js';
import { eachSide, inTurns, medians, range, timed, type Figure } from './measure.js';

const rounds = 300;
const warmUp = 50;
const perSave = 10;

/** Compares saves that leave notes for the embedding worker with saves that do not, in alternating rounds. */
export async function benchEmbeddingSaves({ env }: BenchEnvironment): Promise<Figure[]> {
  const server = { uri: env.NEO4J_URI ?? '', user: env.NEO4J_USER ?? '', password: env.NEO4J_PASSWORD ?? '' };
  const graphs = {
    ours: createGraph({ ...server, embeds: true }),
    baseline: createGraph({ ...server, embeds: false }),
  };
  const saves = (graph: typeof graphs.ours) => {
    const projectId = newId();
    return (round: number) => timed(() => save(graph, projectId, saveOf(round), stamp()));
  };
  try {
    await prepareGraph(graphs.baseline);
    const times = await inTurns(rounds, saves(graphs.ours), saves(graphs.baseline), warmUp);
    const rates = eachSide(times, (side) => side.map((ms) => 1000 / ms));
    const what = `saves per second of one writer, ${perSave} entities, relationships and facts each; baseline without an endpoint for embeddings`;
    return [medians(what, '/s', rates, 'at least 0.95')];
  } finally {
    await Promise.all([graphs.ours.close(), graphs.baseline.close()]);
  }
}

function stamp() {
  return { saved_by: 'bench', source: null, recorded_at: epochSeconds(), lifecycle_id: 'bench' };
}

function saveOf(round: number) {
  const id = (at: number) => `e${round}-${at}`;
  return {
    entities: range(perSave).map((at) => ({
      id: id(at),
      type: 'Person',
      name: `Person ${round} ${at}`,
      properties: { about: `a note about person ${at} of round ${round}, with some words` },
    })),
    relationships: range(perSave).map((at) => ({
      from: id(at),
      type: 'KNOWS',
      to: id((at + 1) % perSave),
      properties: { since: 1950 + at },
    })),
    facts: range(perSave).map((at) => ({
      subject: id(at),
      predicate: 'lives in',
      object: `City ${at}`,
      confidence: 1,
    })),
  };
}
