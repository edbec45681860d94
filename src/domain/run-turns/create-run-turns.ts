import { LRUCache } from 'lru-cache';
import { executionWorkflowId } from '../../../workflows/agentflow-execution/messages.js';
import { turnGivenSignal } from '../../../workflows/agentflow-execution/turn-messages.js';
import { eachApart } from '../../base/async.js';
import { forEachDue } from '../../governance/for-each-due.js';
import type { Logger } from '../../log.js';
import type { Collections } from '../../stores/collections.js';
import { createGroup, type Group } from '../../stores/group.js';
import { insertOnce } from '../../stores/insert-once.js';
import { isWorkflowGone, type Temporal } from '../../temporal/client.js';
import { epochSeconds } from '../../base/time.js';
import type { TurnQueueDocument } from './record.js';
import { changedQueue, type TurnChange, type TurnLimits } from './rules.js';

interface RunTurnDeps {
  collections: Pick<Collections, 'turn_queues' | 'agentflows' | 'executions'>;
  temporal: Pick<Temporal, 'call'>;
  log: Pick<Logger, 'warn'>;
}

export type TurnAnswer = 'given' | 'waiting' | 'too many wait';

interface Asked {
  agentflow_id: string;
  execution_id: string;
  key: string | null;
}

/** How often the sweep looks at the queue of an agentflow. A changed limit applies within this time. */
const sweepSeconds = 15;
/** A run that has a turn for so long and has not begun is told again. */
const tellAgainSeconds = 10;
const maxSignalsAtOnce = 20;

const noLimits: TurnLimits = { limit: null, limit_per_key: null };

export type RunTurns = ReturnType<typeof createRunTurns>;

/**
 * Gives turns to the runs of agentflows with `concurrency` (docs/decisions/0002). A change of a queue is one conditional write, so any number of
 * processes can change it and none can exceed the limits. Changes that arrive in a process during a write join the next one.
 */
export function createRunTurns({ collections, temporal, log }: RunTurnDeps) {
  const { turn_queues, executions } = collections;
  const groups = groupsOf(collections);

  /** Tells runs that they have their turn. What fails is repeated by the sweep. A run that has ended leaves the queue. */
  async function tell(agentflowId: string, ids: readonly string[]): Promise<void> {
    const about = (execution_id: string) => ({ execution_id });
    await eachApart(
      ids,
      { log, failed: 'a run could not be told that it has its turn', about, atOnce: maxSignalsAtOnce },
      async (id) => {
        try {
          await temporal.call((client) => client.workflow.getHandle(executionWorkflowId(id)).signal(turnGivenSignal));
        } catch (error) {
          if (!isWorkflowGone(error)) throw error;
          await end(agentflowId, id);
        }
      },
    );
  }

  async function end(agentflowId: string, executionId: string): Promise<void> {
    const { given } = await groups.memo(agentflowId).add({ kind: 'end', execution_id: executionId });
    await tell(agentflowId, given);
  }

  /** Removes runs that ended without leaving the queue, gives turns, and tells runs that have not begun after they got theirs. */
  async function tidy({ _id, running, waiting }: TurnQueueDocument, now: number): Promise<void> {
    const ids = [...running, ...waiting].map(({ execution_id }) => execution_id);
    const over = ['completed' as const, 'failed' as const];
    const open = await executions
      .find({ _id: { $in: ids }, status: { $nin: over } }, { projection: { _id: 1 } })
      .toArray();
    // Includes runs whose records have been deleted.
    const isOpen = new Set(open.map((run) => run._id));
    const ended = ids.filter((id) => !isOpen.has(id));
    const group = groups.memo(_id);
    const changes: Promise<Changed>[] = [];
    const about = (execution_id: string) => ({ execution_id });
    await eachApart(ended, { log, failed: 'the end of a run could not be read', about }, async (execution_id) => {
      if (await isClosed(temporal, execution_id)) changes.push(group.add({ kind: 'end', execution_id }));
    });
    const outcomes = await Promise.all([...changes, group.add('look')]);
    const { queue } = outcomes.at(-1) ?? { queue: { running } };
    const isOld = ({ at }: { at: number }) => at < now - tellAgainSeconds;
    const old = queue.running.filter(isOld).map(({ execution_id }) => execution_id);
    const ready = await executions.find({ _id: { $in: old }, status: 'ready' }, { projection: { _id: 1 } }).toArray();
    await tell(_id, [...outcomes.flatMap(({ given }) => given), ...ready.map((run) => run._id)]);
  }

  return {
    /** A run asks for its turn. Idempotent by execution. If it has to wait, it gets the signal `turnGiven` later. */
    async ask({ agentflow_id, execution_id, key }: Asked): Promise<TurnAnswer> {
      const { queue, given } = await groups.memo(agentflow_id).add({ kind: 'ask', execution_id, key });
      await tell(
        agentflow_id,
        given.filter((id) => id !== execution_id),
      );
      const isIn = (entries: readonly { execution_id: string }[]) =>
        entries.some((entry) => entry.execution_id === execution_id);
      if (isIn(queue.running)) return 'given';
      return isIn(queue.waiting) ? 'waiting' : 'too many wait';
    },
    /** A run has ended, or no longer waits: the next one gets its turn. Idempotent. */
    end,
    /** One pass over the queues. Any number of processes can sweep. */
    async sweep(now = epochSeconds()): Promise<void> {
      const due = { next_at: { $lte: now } };
      await forEachDue({ collection: turn_queues, due, at: 'next_at', pause: () => sweepSeconds, log, now }, (queue) =>
        tidy(queue, now),
      );
    },
  };
}

/** The changes of each queue, in groups. */
function groupsOf({ turn_queues, agentflows }: RunTurnDeps['collections']) {
  async function limitsOf(agentflowId: string): Promise<TurnLimits> {
    const found = await agentflows.findOne({ _id: agentflowId }, { projection: { concurrency: 1 } });
    return found?.concurrency ?? noLimits;
  }

  async function change(_id: string, changes: readonly TurnChange[]): Promise<Changed> {
    for (;;) {
      const before =
        (await turn_queues.findOne({ _id })) ??
        (await insertOnce(turn_queues, { _id, revision: 0, running: [], waiting: [], next_at: null }));
      const at = epochSeconds();
      const { running, waiting } = changedQueue(before, changes, await limitsOf(_id), at);
      const queue: TurnQueueDocument = { ...before, running, waiting };
      if (isSame(before.running, running) && isSame(before.waiting, waiting)) return { queue, given: [] };
      // The sweep itself moves `next_at` of a queue with runs.
      const wasUsed = isUsed(before);
      const next_at = isUsed(queue) ? { next_at: at + sweepSeconds } : { next_at: null };
      const { matchedCount } = await turn_queues.updateOne(
        { _id, revision: before.revision },
        { $set: { running, waiting, revision: before.revision + 1, ...(wasUsed === isUsed(queue) ? {} : next_at) } },
      );
      if (matchedCount === 0) continue;
      const had = new Set(before.running.map(({ execution_id }) => execution_id));
      return { queue, given: running.map(({ execution_id }) => execution_id).filter((id) => !had.has(id)) };
    }
  }

  return new LRUCache<string, Group<TurnChange | 'look', Changed>>({
    max: 1000,
    memoMethod: (agentflowId) =>
      createGroup(async (batch) => {
        const { queue, given } = await change(
          agentflowId,
          batch.flatMap(({ item }) => (item === 'look' ? [] : item)),
        );
        // One caller tells the runs that got their turn.
        for (const [at, { resolve }] of batch.entries()) resolve({ queue, given: at === 0 ? given : [] });
      }),
  });
}

/** The record of a run says that it has ended shortly before that is certain: a killed worker repeats the end. */
async function isClosed(temporal: RunTurnDeps['temporal'], id: string): Promise<boolean> {
  try {
    const { status } = await temporal.call((client) => client.workflow.getHandle(executionWorkflowId(id)).describe());
    return status.name !== 'RUNNING' && status.name !== 'PAUSED';
  } catch (error) {
    if (isWorkflowGone(error)) return true;
    throw error;
  }
}

interface Changed {
  queue: Pick<TurnQueueDocument, 'running' | 'waiting'>;
  /** The runs that got their turn with this change. */
  given: string[];
}

function isUsed({ running, waiting }: Pick<TurnQueueDocument, 'running' | 'waiting'>): boolean {
  return running.length + waiting.length > 0;
}

/** Changed entries are other objects. */
function isSame(before: readonly object[], after: readonly object[]): boolean {
  return before.length === after.length && before.every((entry, at) => entry === after[at]);
}
