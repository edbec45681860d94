import type { Activities } from '../activities.js';
import { stepActivities } from '../agentflow-execution/steps/index.js';

/**
 * `control`: workflow tasks, and activities for decisions, projections and bookkeeping, all short. `steps`: calls of
 * models and external servers. `bulk`: work that takes minutes to hours. Each has its own slots, so that none can delay
 * another.
 */
export const queueKinds = ['control', 'steps', 'bulk'] as const;
export type QueueKind = (typeof queueKinds)[number];

/** Activities outside `control`. */
const kinds: ReadonlyMap<string, QueueKind> = new Map<keyof Activities, QueueKind>([
  ...stepActivities.map((name) => [name, 'steps'] as const),
  ['verifyAccount', 'steps'],
  ['listMcpTools', 'steps'],
  ['loadConnector', 'bulk'],
  ['syncCatalogTables', 'bulk'],
  ['syncCatalogLineage', 'bulk'],
  ['removeFromCatalog', 'bulk'],
  ['saveCommits', 'bulk'],
  ['embedNext', 'bulk'],
  ['extractChunks', 'bulk'],
  ['saveChunks', 'bulk'],
  ['rememberDocument', 'bulk'],
  ['finishKnowledge', 'bulk'],
  ['removeKnowledge', 'bulk'],
  ['extractMemoryPart', 'bulk'],
  ['saveMemoryPart', 'bulk'],
  ['sweepTableColumn', 'bulk'],
  ['removeStarters', 'bulk'],
  ['cancelExecutions', 'bulk'],
  ['removeKnowledgeOfProject', 'bulk'],
  ['buildTextIndex', 'bulk'],
]);

/**
 * The queue of the activities of a kind. `base` is `TEMPORAL_TASK_QUEUE`, the queue of the workflows. Steps share it,
 * because Temporal starts an activity with the answer to a workflow task only on the queue of the workflow. Workflow
 * tasks and activities of one name wait and run separately.
 */
export function queueName(base: string, kind: QueueKind): string {
  return kind === 'steps' ? base : `${base}-${kind}`;
}

export function queueOfActivity(base: string, activityType: string): string {
  return queueName(base, kinds.get(activityType) ?? 'control');
}
