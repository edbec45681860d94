import { setTimeout as delay } from 'node:timers/promises';
import { abortWith } from '../../base/async.js';
import { executionWorkflowId, type ExecutionEvent } from '../../../workflows/agentflow-execution/messages.js';
import type { Logger } from '../../log.js';
import type { FollowHistory } from '../../temporal/history-cursor.js';
import { deltasAfter, type ExecutionDeltaDocument } from './deltas.js';
import { storedEvents } from './events.js';
import type { ReconcileDeps } from './reconcile.js';
import { isOver, type ExecutionDocument } from './record.js';
import { createRunReader } from './run-reader.js';
import { createStepNews } from './step-news.js';

/** The minimum time between two queries of a workflow. */
const pauseMs = 300;

/** What one viewer of a run sees. */
export interface RunView {
  /** The next events after `last`, in order and without a gap, and whether they are the last ones of the run. */
  eventsAfter(last: number): Promise<{ events: readonly ExecutionEvent[]; over: boolean }>;
  /** The next news of the step that started with the event `after_seq`, after the position `last`. */
  deltasAfter(after_seq: number, last: string): Promise<readonly ExecutionDeltaDocument[]>;
  /** Resolves when there can be more events than at the last call of `eventsAfter`, at the latest after `ms`. */
  changed(ms: number): Promise<void>;
  leave(): void;
}

interface WatchDeps extends ReconcileDeps {
  log: Logger;
  followHistory: FollowHistory;
  /** Aborted when the process stops. */
  stopping: AbortSignal;
}

export type ViewRun = (record: ExecutionDocument) => RunView;

/** All views of a run in this process share one watch of it, which starts with the first view and ends with the last. */
export function createViewRun(deps: WatchDeps): ViewRun {
  const watches = new Map<string, ReturnType<typeof createWatch>>();
  return (record) => {
    const watch = watches.get(record._id) ?? createWatch(deps, record, () => watches.delete(record._id));
    watches.set(record._id, watch);
    return watch.view();
  };
}

function createWatch(deps: WatchDeps, { _id: id, status, last_event_seq }: ExecutionDocument, onEnd: () => void) {
  const { collections } = deps.mongo;
  const abandoned = abortWith(deps.stopping);
  const { signal } = abandoned;
  const { notify, version, wait } = createNotifier();
  const reader = createRunReader(deps, id);
  const stepNews = createStepNews(collections, id, notify, signal);
  const views = new Set<RunView>();
  /** The number of the last event of a run that has ended. */
  let end = isOver(status) ? last_event_seq : undefined;
  signal.addEventListener('abort', notify);

  const look = async (): Promise<boolean> => {
    const news = await reader.read();
    await stepNews.follow(news.events);
    reader.keep(news);
    end = news.ended;
    if (news.events.length > 0 || end !== undefined) notify();
    return news.answered;
  };
  if (end === undefined) void followRun(deps, id, { look, isOver: () => signal.aborted || end !== undefined, signal });

  return {
    view(): RunView {
      const left = new AbortController();
      let seen = version();
      let isBehind = false;
      const view: RunView = {
        async eventsAfter(last) {
          seen = version();
          const kept = reader.keptAfter(last);
          const events = kept ?? (await storedEvents(collections, id, last));
          isBehind = kept === undefined && events.length > 0;
          return { events, over: end !== undefined && (events.at(-1)?.seq ?? last) >= end };
        },
        deltasAfter: async (after_seq, last) =>
          stepNews.after(after_seq, last) ?? deltasAfter(collections, id, after_seq, last),
        async changed(ms) {
          if (!isBehind && seen === version() && !signal.aborted) await wait(ms, left.signal);
        },
        leave() {
          left.abort();
          if (!views.delete(view) || views.size > 0) return;
          abandoned.abort();
          onEnd();
        },
      };
      views.add(view);
      return view;
    },
  };
}

interface Following {
  /** @returns whether the workflow answered, so that the next look can wait for its next change */
  look(): Promise<boolean>;
  isOver(): boolean;
  signal: AbortSignal;
}

/** Reads the run after each change, and at intervals while its workflow does not answer or has not started. */
async function followRun(deps: WatchDeps, id: string, { look, isOver, signal }: Following): Promise<void> {
  const cursor = deps.followHistory(executionWorkflowId(id), signal);
  let isCurrent = true;
  let hasFailed = false;
  for (let lookedAt = -Infinity; !isOver(); lookedAt = performance.now()) {
    try {
      if (isCurrent) await cursor.next();
      await delay(Math.max(0, lookedAt + pauseMs - performance.now()), undefined, { signal });
      isCurrent = await look();
      hasFailed = false;
    } catch (error) {
      isCurrent = false;
      if (!hasFailed && !signal.aborted)
        deps.log.warn({ err: error, execution_id: id }, 'the events of a run cannot be read; trying again');
      hasFailed = true;
    }
  }
}

/** Lets several callers wait for the same event. */
function createNotifier() {
  const waiting = new Set<() => void>();
  let version = 0;
  return {
    version: () => version,
    notify() {
      version += 1;
      for (const resolve of waiting) resolve();
    },
    /** Resolves at the next `notify`, when `signal` is aborted, or after `ms`. */
    wait: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          waiting.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        waiting.add(done);
        signal.addEventListener('abort', done);
        if (signal.aborted) done();
      }),
  };
}
