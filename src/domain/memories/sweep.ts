import { eachApart } from '../../base/async.js';
import { epochSeconds } from '../../base/time.js';
import type { Deps } from '../deps.js';
import { startWorkflow } from './operations.js';

/** Longer than a call takes between storing the record and starting the workflow. */
const graceSeconds = 60;
const maxPerPass = 200;

/**
 * Starts the workflow of each memory whose process died before the start. A workflow that has run does not start again, so
 * any number of processes can sweep. Successive passes cover all memories.
 */
export function createMemorySweep({
  mongo,
  temporal,
  log,
}: Pick<Deps, 'mongo' | 'temporal' | 'log'>): () => Promise<void> {
  let after = '';
  return async () => {
    const queued = await mongo.collections.memories
      .find({ status: 'queued', _id: { $gt: after }, created_at: { $lt: epochSeconds() - graceSeconds } })
      .project<Parameters<typeof startWorkflow>[1]>({ project_id: 1, organization_id: 1, parts: 1, wants_review: 1 })
      .sort({ _id: 1 })
      .limit(maxPerPass)
      .toArray();
    after = queued.length < maxPerPass ? '' : (queued.at(-1)?._id ?? '');
    const failed = 'a memory could not be started';
    const about = ({ _id }: { _id: string }) => ({ memory_id: _id });
    await eachApart(queued, { log, failed, about }, (memory) => startWorkflow({ temporal }, memory));
  };
}
