import { createServiceRecorder, type ServiceRecorderDeps } from '../src/callbacks/service-record.js';
import { save } from '../src/graph/save/save.js';
import type { Stamp } from '../src/graph/store/provenance.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { Graph } from '../src/stores/neo4j.js';
import { epochSeconds } from '../src/time.js';
import type { CodeSyncActivities } from '../workflows/code-sync/activities.js';
import type { CodeSyncInput } from '../workflows/code-sync/messages.js';
import { batches } from './batches.js';
import { commitSave, headSave } from './code-sync/mapping.js';
import { withHeartbeat } from './with-heartbeat.js';

export interface CodeSyncActivityDeps {
  mongo: Pick<Mongo, 'collections'>;
  graph: Graph;
  audit: ServiceRecorderDeps['audit'];
}

/** Paths of one transaction; a commit may touch thousands. */
const pathsAtOnce = 300;

/** Writes a push commit by commit, so that a killed worker repeats one at most. */
export function createCodeSyncActivities({ mongo, graph, audit }: CodeSyncActivityDeps): CodeSyncActivities {
  const record = createServiceRecorder({ collections: mongo.collections, audit });
  return {
    saveCommits: (input) =>
      withHeartbeat({ next: 0, entities: 0, relationships: 0, facts: 0 }, async ({ cursor, reached, signal }) => {
        const { push } = input;
        let at = cursor;
        for (const commit of push.commits.slice(at.next)) {
          const { added, modified, removed } = commit;
          const touched = [
            ...added.map((path) => ({ path, change: 'added' as const })),
            ...modified.map((path) => ({ path, change: 'modified' as const })),
            ...removed.map((path) => ({ path, change: 'removed' as const })),
          ];
          const parts = touched.length === 0 ? [[]] : batches(touched, pathsAtOnce);
          for (const paths of parts) {
            const { saved } = await save(graph, input.project_id, commitSave(push, commit, paths), stampOf(input));
            const { entities, relationships, facts } = saved;
            at = { ...at, entities: at.entities + entities, relationships: at.relationships + relationships, facts: at.facts + facts };
          }
          at = { ...at, next: at.next + 1 };
          reached(at);
          signal.throwIfAborted();
        }
        if (push.head !== '') await save(graph, input.project_id, headSave(push), stampOf(input));
        return { commits: push.commits.length, entities: at.entities, relationships: at.relationships, facts: at.facts };
      }),

    async recordCodeSync({ input, started_at, result, failure }) {
      const { push, project_id, organization_id, lifecycle_id } = input;
      await record({
        lifecycle_id,
        tool: 'code-sync',
        status: failure === null ? 'completed' : 'failed',
        ...{ project_id, organization_id, resource: `repository:${push.repository}`, created_at: started_at, ended_at: epochSeconds() },
        stages: [
          { stage: 'S8:execute', status: failure === null ? 'ok' : 'failed', detail: failure ?? `${result?.commits ?? 0} commits, ${result?.entities ?? 0} entities` },
        ],
      });
    },
  };
}

function stampOf({ push, lifecycle_id }: CodeSyncInput): Stamp {
  return { saved_by: 'service:code-sync', source: `repository ${push.repository}`, recorded_at: push.received_at, lifecycle_id };
}
