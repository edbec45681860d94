import type { ExecutionEvent } from '../../../workflows/agentflow-execution/messages.js';
import { inSequence, storedEvents } from './events.js';
import { readLiveEvents } from './operations/read.js';
import type { ReconcileDeps } from './reconcile.js';
import { isOver } from './record.js';
import { createRecentItems } from './recent-items.js';

/** The maximum number of other events, such as pauses, after the start of a running step. */
export const maxEventsPerStep = 100;

interface RunNews {
  /** The events since the last read, in order. The first read returns those that can belong to the running step. */
  events: ExecutionEvent[];
  /** The number of the last event that is certainly in the store. */
  stored: number;
  /** The number of the last event of a run that has ended; 0 if its record was deleted. */
  ended?: number | undefined;
  /** Whether the workflow answered, so that the next read can wait for its next change. */
  answered: boolean;
}

/** Reads the events of a run, and keeps the newest ones. */
export function createRunReader(deps: ReconcileDeps, id: string) {
  const { collections } = deps.mongo;
  let kept: ReturnType<typeof createRecentItems<number, ExecutionEvent>> | undefined;
  const readStored = async (last: number, upTo: number) => {
    const events: ExecutionEvent[] = [];
    for (let seen = last; seen < upTo; seen = events.at(-1)?.seq ?? last) {
      const found = await storedEvents(collections, id, seen);
      // Stop at a gap: a later read finds the missing event.
      if (found.length === 0) break;
      events.push(...found);
    }
    return events;
  };
  return {
    async read(): Promise<RunNews> {
      const projection = { status: 1, started_at: 1, last_event_seq: 1 } as const;
      const found = await collections.executions.findOne({ _id: id }, { projection });
      if (!found) return { events: [], stored: 0, ended: 0, answered: true };
      const { record, live: answer } = await readLiveEvents(deps, found, () => kept?.after(found.last_event_seq) ?? []);
      const live = answer ?? [];
      const stored = record.last_event_seq;
      kept ??= createRecentItems(Math.max(0, stored - maxEventsPerStep), ({ seq }: ExecutionEvent) => seq);
      const { last } = kept;
      // The workflow is asked before the store, so that an event that moves from one to the other is not missed.
      const fresh = await readStored(last, live[0] ? live[0].seq - 1 : stored);
      fresh.push(...inSequence(live, fresh.at(-1)?.seq ?? last));
      const isComplete = (fresh.at(-1)?.seq ?? last) >= stored;
      return {
        events: fresh,
        stored,
        ended: isOver(record.status) && isComplete ? stored : undefined,
        answered: answer !== undefined,
      };
    },
    keep({ events, stored }: RunNews): void {
      for (const event of events) kept?.add(event, stored);
    },
    /** The events after `last`. Undefined if some of them are only in the store. */
    keptAfter: (last: number) => kept?.after(last),
  };
}
