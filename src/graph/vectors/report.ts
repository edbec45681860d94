import { epochSeconds } from '../../base/time.js';
import type { ManagedTransaction } from 'neo4j-driver';
import { inReadTransaction, type Connection } from '../store/sessions.js';
import { readEmbeddingState } from './state.js';

/** The progress of a project's embedding. */
interface EmbeddingReport {
  /** The generation that searches use, or null before the first one is complete. */
  generation: GenerationReport | null;
  /** The generation that is being built in addition, or null. */
  building: GenerationReport | null;
  /** The number of searchable entities and facts, and how many of them have a vector of the newest generation. */
  elements: number;
  embedded: number;
  /** A number from 0 to 1. */
  coverage: number;
  /** The number of saved elements that are not embedded yet, including relationships. */
  waiting: number;
  /** How long the oldest of them has been waiting, in seconds. */
  lag_seconds: number;
  /** The last text that the endpoint refused, which has no vector. Null if there is none. */
  refused: string | null;
  /** The last failure since the last success, or null. */
  error: { message: string; at: number } | null;
}

interface GenerationReport {
  id: string;
  model: string;
  dimensions: number;
}

export function readEmbeddingReport(graph: Connection, projectId: string): Promise<EmbeddingReport> {
  return inReadTransaction(graph, (tx) => report(tx, projectId), { projectIds: [projectId] });
}

async function report(tx: ManagedTransaction, projectId: string): Promise<EmbeddingReport> {
  const state = await readEmbeddingState(tx, projectId);
  const newest = state.building ?? state.generation;
  const { records } = await tx.run(
    `OPTIONAL MATCH (g:_Generation) WHERE g.key IN $generations
     WITH collect(g {id: g.key, .model, .dimensions}) AS generations
     RETURN generations,
       COUNT { MATCH (n:_Scoped {project_id: $projectId}) WHERE n._search IS NOT NULL } AS elements,
       COUNT { MATCH (v:_Vector {project: $projectId}) WHERE v.generation = $newest AND v.kind <> 'relationship' } AS embedded,
       COUNT { MATCH (n:_Unembedded {project_id: $projectId}) } AS nodes,
       COUNT { MATCH (l:_UnembeddedLink {project: $projectId}) } AS links,
       COLLECT { MATCH (n:_Unembedded {project_id: $projectId}) RETURN min(n._recorded_at) }[0] AS oldest`,
    { projectId, newest, generations: [state.generation, state.building].filter((id) => id !== null) },
  );
  const row = records[0]?.toObject() as Record<'elements' | 'embedded' | 'nodes' | 'links', unknown> & {
    oldest: unknown;
    generations: GenerationReport[];
  };
  const generationOf = (id: string | null) => row.generations.find((each) => each.id === id) ?? null;
  const [elements, embedded, waiting] = [
    Number(row.elements),
    Number(row.embedded),
    Number(row.nodes) + Number(row.links),
  ];
  return {
    generation: generationOf(state.generation),
    building: generationOf(state.building),
    elements,
    embedded,
    coverage: elements === 0 ? 1 : Math.min(1, Number((embedded / elements).toFixed(4))),
    waiting,
    lag_seconds: lagOf(row.oldest, state.since),
    refused: state.refused,
    error: state.error,
  };
}

/** Returns the lag. For an element that was saved before its generation began, it counts from that time. */
function lagOf(oldest: unknown, since: number | null): number {
  if (typeof oldest !== 'number') return 0;
  return Math.max(0, Math.round(epochSeconds() - Math.max(oldest, since ?? 0)));
}
