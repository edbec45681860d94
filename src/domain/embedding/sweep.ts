import { LRUCache } from 'lru-cache';
import { embeddingType, embeddingWorkflowId, type EmbeddingInput } from '../../../workflows/embedding/messages.js';
import { generationOf } from '../../graph/vectors/generation.js';
import { projectsToEmbed, stopEmbedding } from '../../graph/vectors/unembedded.js';
import { startProjectWork } from '../../temporal/start-once.js';
import { eachApart } from '../../base/async.js';
import { batches } from '../batches.js';
import type { Deps } from '../deps.js';

const maxHistoryEvents = 2000;
const maxConcurrentStarts = 10;
/** The sweep does not start a workflow again for this time after it found it running. */
const runningForMs = 10_000;

/**
 * Starts the workflow of each project that has something to embed. Any number of processes can sweep, because there is
 * one workflow for each project.
 */
export function createEmbeddingSweep({
  graph,
  embedder,
  mongo,
  temporal,
  log,
}: Pick<Deps, 'graph' | 'embedder' | 'mongo' | 'temporal' | 'log'>): () => Promise<void> {
  const running = new LRUCache<string, true>({ max: 10_000, ttl: runningForMs });
  return async () => {
    if (embedder.model === undefined) return;
    const waiting = await projectsToEmbed(graph, generationOf(embedder.model).id);
    const ids = waiting.filter((id) => !running.has(id));
    for (const some of batches(ids, 500)) {
      const projects = await mongo.collections.projects
        .find({ _id: { $in: some } }, { projection: { organization_id: 1, status: 1 } })
        .toArray();
      const present = projects.filter(({ status }) => status !== 'deleted');
      const deleted = projects.filter(({ status }) => status === 'deleted').map(({ _id }) => _id);
      await stopEmbedding(graph, deleted);
      const failed = 'the embedding of a project could not be started';
      const about = ({ _id }: { _id: string }) => ({ project_id: _id });
      await eachApart(
        present,
        { log, failed, about, atOnce: maxConcurrentStarts },
        async ({ _id, organization_id }) => {
          const input: EmbeddingInput = { project_id: _id, organization_id, max_history_events: maxHistoryEvents };
          const workflowId = embeddingWorkflowId(_id);
          const work = { type: embeddingType, workflowId, summary: 'Embed what was saved', input };
          if (!(await startProjectWork(temporal, work))) running.set(_id, true);
        },
      );
    }
  };
}
