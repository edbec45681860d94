import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutionEvent } from '../../../workflows/agentflow-execution/messages.js';
import type { Collections } from '../../stores/collections.js';
import { beforeDeltas, deltasAfter, type ExecutionDeltaDocument } from './deltas.js';
import { createRecentItems } from './recent-items.js';

const pauseMs = 300;

/**
 * The news of the newest two steps of a run that report while they run. A process reads them once for all viewers. Calls
 * `notify` when there is news, until `signal` is aborted.
 */
export function createStepNews(
  collections: Pick<Collections, 'execution_deltas'>,
  id: string,
  notify: () => void,
  signal: AbortSignal,
) {
  let running: NewsOfStep | undefined;
  let previous: NewsOfStep | undefined;
  const watch = async (step: NewsOfStep) => {
    while (running === step && step.isRunning && !signal.aborted) {
      if (await step.read()) notify();
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };
  return {
    /** Call this with new events before viewers see them. If they end a step, this reads the rest of its news. */
    async follow(events: readonly ExecutionEvent[]): Promise<void> {
      if (running?.isRunning && endsStep(events)) {
        running.isRunning = false;
        await running.read();
      }
      const started = reportingStepAfter(events);
      if (typeof started !== 'number') return;
      previous = running;
      running = createNewsOfStep(collections, id, started);
      void watch(running);
    },
    /** The news of a step after a position. Undefined if some of them are only in the store. */
    after: (after_seq: number, last: string) =>
      [running, previous].find((step) => step?.after_seq === after_seq)?.after(last),
  };
}

type NewsOfStep = ReturnType<typeof createNewsOfStep>;

function createNewsOfStep(collections: Pick<Collections, 'execution_deltas'>, id: string, after_seq: number) {
  const recent = createRecentItems(beforeDeltas(id, after_seq), ({ _id }: ExecutionDeltaDocument) => _id);
  let reading = Promise.resolve(false);
  const readNew = async () => {
    const start = recent.last;
    for (;;) {
      const found = await deltasAfter(collections, id, after_seq, recent.last);
      if (found.length === 0) return recent.last !== start;
      for (const delta of found) recent.add(delta, delta._id);
    }
  };
  return {
    after_seq,
    isRunning: true,
    /** Reads the news. @returns whether there was any; after a failure, the next read finds it */
    read(): Promise<boolean> {
      // Reads run in sequence, so that nothing is added twice.
      reading = reading.then(readNew).catch(() => false);
      return reading;
    },
    after: recent.after,
  };
}

/** The kinds of steps that report while they run: the text of a model, or the progress of a tool. */
const reporting: ReadonlySet<unknown> = new Set(['model', 'action']);

/**
 * The number of the event that started the reporting step that runs after these events. Null if no such step runs,
 * undefined if the events do not show it.
 */
export function reportingStepAfter(events: readonly ExecutionEvent[]): number | null | undefined {
  const step = events.findLast(({ type }) => type.startsWith('step_') || type === 'approval_settled');
  if (!step) return undefined;
  // A step whose act was held runs again once its approval is settled.
  const runs = step.type === 'approval_settled' || (step.type === 'step_started' && reporting.has(step.data.kind));
  return runs ? step.seq : null;
}

/** Whether a step ended in these events. */
export function endsStep(events: readonly ExecutionEvent[]): boolean {
  return events.some(({ type }) => /^step_(?!started)/.test(type));
}
