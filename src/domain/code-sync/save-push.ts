import type { CodeSyncActivities } from '../../../workflows/code-sync/activities.js';
import type { CodeSyncInput, CodeSyncResult, PushedCommit } from '../../../workflows/code-sync/messages.js';
import { permitServiceRun, recordServiceRun, type ServiceRecorderDeps } from '../../governance/service-record.js';
import { save } from '../../graph/save/save.js';
import { readFacts } from '../../graph/store/facts.js';
import type { Stamp } from '../../graph/store/provenance.js';
import { inReadTransaction } from '../../graph/store/sessions.js';
import type { EncryptedBlobStore } from '../../stores/encrypted-blobs.js';
import type { Graph } from '../../stores/neo4j.js';
import type { Progress } from '../../temporal/progress.js';
import { batches } from '../batches.js';
import type { Deps } from '../deps.js';
import { codeSync } from '../service-operations.js';
import { commitSave, headFact, headSave } from './mapping.js';

/** The maximum number of paths in one transaction. A commit can change thousands. */
const maxPathsPerSave = 300;

export const saveStart = { next: 0, entities: 0, relationships: 0, facts: 0 };

/**
 * Writes a push commit by commit, so that after a worker is killed at most one commit is repeated.
 * @throws AppError if the rules refuse it
 */
export async function saveCommits(
  { kernel, graph, blobs }: Pick<Deps, 'kernel' | 'graph' | 'blobs'>,
  input: CodeSyncInput,
  { cursor, reached, signal }: Progress<typeof saveStart>,
): Promise<CodeSyncResult> {
  const { push } = input;
  const { repository } = push;
  await permitServiceRun(kernel, codeSync, runOf(input), { entrance: 'sync', input: { repository } });
  const commits = await commitsOf(blobs, input);
  let at = cursor;
  for (const commit of commits.slice(at.next)) {
    const { added, modified, removed } = commit;
    const touched = [
      ...added.map((path) => ({ path, change: 'added' as const })),
      ...modified.map((path) => ({ path, change: 'modified' as const })),
      ...removed.map((path) => ({ path, change: 'removed' as const })),
    ];
    const parts = touched.length === 0 ? [[]] : batches(touched, maxPathsPerSave);
    for (const paths of parts) {
      const { saved } = await save(graph, input.project_id, commitSave(push, commit, paths), stampOf(input));
      const { entities, relationships, facts } = saved;
      at = {
        ...at,
        entities: at.entities + entities,
        relationships: at.relationships + relationships,
        facts: at.facts + facts,
      };
    }
    at = { ...at, next: at.next + 1 };
    reached(at);
    signal.throwIfAborted();
  }
  if (push.head !== '')
    await save(graph, input.project_id, headSave(push, await currentHead(graph, input)), stampOf(input));
  return { commits: commits.length, entities: at.entities, relationships: at.relationships, facts: at.facts };
}

async function commitsOf(
  blobs: Pick<EncryptedBlobStore, 'get'>,
  { push, stored_commits }: CodeSyncInput,
): Promise<PushedCommit[]> {
  if (!stored_commits) return push.commits;
  return JSON.parse((await blobs.get(stored_commits.location)).toString('utf8')) as PushedCommit[];
}

async function currentHead(
  graph: Graph,
  { project_id, push }: CodeSyncInput,
): Promise<{ object: unknown; valid_from: number } | undefined> {
  const facts = await inReadTransaction(graph, (tx) => readFacts(tx, project_id, [headFact(push)]));
  return facts.findLast(({ valid_to }) => valid_to === null);
}

function stampOf({ push, lifecycle_id }: CodeSyncInput): Stamp {
  return {
    saved_by: 'service:code-sync',
    source: `repository ${push.repository}`,
    recorded_at: push.received_at,
    lifecycle_id,
  };
}

function runOf({ push, project_id, organization_id, lifecycle_id }: CodeSyncInput) {
  return { lifecycle_id, project_id, organization_id, resource: `repository:${push.repository}` };
}

/** Stores the lifecycle and the audit entry of a sync. */
export async function recordCodeSync(
  deps: ServiceRecorderDeps,
  { input, started_at, result, failure }: Parameters<CodeSyncActivities['recordCodeSync']>[0],
): Promise<void> {
  const detail = failure ?? `${result?.commits ?? 0} commits, ${result?.entities ?? 0} entities`;
  await recordServiceRun(deps, codeSync.name, runOf(input), { failed: failure !== null, detail, started_at });
}
