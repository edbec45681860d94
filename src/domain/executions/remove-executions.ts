import { executionWorkflowId } from '../../../workflows/agentflow-execution/messages.js';
import type { EncryptedBlobStore } from '../../stores/encrypted-blobs.js';
import type { Collections } from '../../stores/collections.js';
import { removeClosedRuns, type Temporal } from '../../temporal/client.js';
import { removeExchanges } from './exchanges.js';
import type { ExecutionDocument } from './record.js';

export interface RemovalDeps {
  mongo: { collections: Collections };
  temporal: Temporal;
  blobs: Pick<EncryptedBlobStore, 'remove'>;
}

export type RemovedExecution = Pick<ExecutionDocument, '_id' | 'files'>;

/** The maximum number of executions that are removed together. */
export const maxRemoved = 50;

/**
 * Removes executions that have ended: their histories in Temporal, and everything that only they store. What governance has
 * recorded about them, their charges, and the files of their results stay. The records come last, so a repeat continues.
 */
export async function removeExecutions(deps: RemovalDeps, removed: readonly RemovedExecution[]): Promise<void> {
  const slices = await slicesOf(deps.mongo.collections, removed);
  for (let at = 0; at < slices.length; at += maxRemoved) await removeTogether(deps, slices.slice(at, at + maxRemoved));
  await removeTogether(deps, removed);
}

/** The runs that worked on items of the executions. */
function slicesOf({ executions }: Collections, removed: readonly RemovedExecution[]): Promise<RemovedExecution[]> {
  return executions
    .find({ 'flow.slice.root': { $in: removed.map(({ _id }) => _id) } }, { projection: { files: 1 } })
    .toArray();
}

async function removeTogether(
  { mongo: { collections }, temporal, blobs }: RemovalDeps,
  removed: readonly RemovedExecution[],
): Promise<void> {
  const { executions, execution_events, execution_knowledge } = collections;
  const ids = removed.map(({ _id }) => _id);
  await removeClosedRuns(temporal, ids.map(executionWorkflowId));
  const documents = removed.flatMap(({ files }) => files.filter(({ store }) => store !== 'file'));
  for (const { location } of documents) {
    // A rerun refers to the documents of the execution that it repeats.
    const isShared = await executions.findOne(
      { _id: { $nin: ids }, 'files.location': location },
      { projection: { _id: 1 } },
    );
    if (!isShared) await blobs.remove(location);
  }
  for (const id of ids) {
    await removeExchanges(collections, id);
    // "0" is the next character after "/".
    await execution_knowledge.deleteMany({ _id: { $gt: `${id}/`, $lt: `${id}0` } });
  }
  await execution_events.deleteMany({ execution_id: { $in: ids } });
  await collections.wait_addresses.deleteMany({ execution_id: { $in: ids } });
  await collections.questions.deleteMany({ execution_id: { $in: ids } });
  await executions.deleteMany({ _id: { $in: ids } });
}
