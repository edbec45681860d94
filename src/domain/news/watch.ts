import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../log.js';
import type { Mongo } from '../../stores/mongo.js';
import { openedEvent, type ProjectEvent } from './record.js';
import { changesOf, pageSize, type Change } from './changes.js';

const pollMs = 1000;
/** Processes stamp their writes with their own clocks, and a write becomes visible a moment after its stamp. */
const overlapMs = 5000;
/** The longest overlap, for projects in which little changes. */
const maxOverlapMs = 60_000;
/** Changes before this time are not sent again: the client reads the lists instead. */
const maxResumeMs = 3_600_000;
/** The number of records whose last change is remembered. */
const maxRemembered = 10_000;

type Listener = (events: readonly ProjectEvent[]) => void;

interface NewsDeps {
  collections: Mongo['collections'];
  log: Logger;
  /** Aborted when the process stops. */
  stopping: AbortSignal;
}

export interface ProjectNews {
  /**
   * Sends a viewer the news of its project: first what it missed since `last`, or `opened` if that is unknown or too much,
   * then each change. An event can be sent twice, and several changes of one record in short succession are one event.
   * @returns a function that ends the view
   */
  view(projectId: string, last: number | undefined, listener: Listener): Promise<() => void>;
}

/** All viewers of this process share one poll, which reads the changes of the projects that have viewers. */
export function createProjectNews(deps: NewsDeps): ProjectNews {
  const join = createPoll(deps);
  return {
    async view(projectId, last, listener) {
      let early: ProjectEvent[] | undefined = [];
      const leave = join(projectId, (events) => void (early ? early.push(...events) : listener(events)));
      try {
        listener(await missedSince(deps, projectId, last));
        listener(early);
        early = undefined;
        return leave;
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

async function missedSince(
  { collections }: NewsDeps,
  projectId: string,
  last: number | undefined,
): Promise<ProjectEvent[]> {
  const now = Date.now();
  // A last event that another clock put into the future says nothing about what was missed.
  const isKnown = last !== undefined && last > now - maxResumeMs && last <= now + overlapMs;
  const missed = isKnown ? await changesOf(collections, [projectId], last - overlapMs) : [];
  return isKnown && missed.length < pageSize ? missed.map(({ event }) => event) : [openedEvent(now)];
}

/** @returns a function that adds a listener of a project and returns a function that removes it */
function createPoll({ collections, log, stopping: signal }: NewsDeps) {
  const viewers = new Map<string, Set<Listener>>();
  const seen = new LRUCache<string, { projectId: string; at: number; state: string }>({ max: maxRemembered });
  let isPolling = false;

  const notifyListeners = (changes: readonly Change[]) => {
    const eventsOf = new Map<string, ProjectEvent[]>();
    for (const { key, projectId, event, state } of changes) {
      const before = seen.get(key);
      // Compares for equality only, because the clock of the process that wrote last can be behind.
      if (before && (before.at === event.seq || before.state === state)) continue;
      seen.set(key, { projectId, at: event.seq, state: state ?? '' });
      eventsOf.set(projectId, [...(eventsOf.get(projectId) ?? []), event]);
    }
    for (const [projectId, events] of eventsOf) for (const listener of viewers.get(projectId) ?? []) listener(events);
  };

  const poll = async () => {
    isPolling = true;
    let hasFailed = false;
    for (let from = Date.now() - overlapMs; viewers.size > 0 && !signal.aborted;) {
      const startedAt = Date.now();
      try {
        const changes = await changesOf(collections, [...viewers.keys()], from);
        hasFailed = false;
        notifyListeners(changes);
        const newest = changes.at(-1)?.event.seq ?? 0;
        if (changes.length >= pageSize && newest < startedAt) {
          from = Math.max(from + 1, newest);
          continue;
        }
        // The clock of this process is the limit, so that a writer whose clock is ahead does not hide the changes of others.
        from = Math.min(Math.max(from, newest - overlapMs, startedAt - maxOverlapMs), startedAt - overlapMs);
      } catch (error) {
        if (!hasFailed) log.warn({ err: error }, 'the news of projects cannot be read; trying again');
        hasFailed = true;
      }
      await delay(pollMs, undefined, { signal }).catch(() => undefined);
    }
    isPolling = false;
  };

  return (projectId: string, listener: Listener): (() => void) => {
    const listeners = viewers.get(projectId) ?? new Set();
    // The poll does not read a project without viewers, so the remembered states may be out of date.
    if (listeners.size === 0) for (const [key, change] of seen) if (change.projectId === projectId) seen.delete(key);
    viewers.set(projectId, listeners.add(listener));
    if (!isPolling) void poll();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && viewers.get(projectId) === listeners) viewers.delete(projectId);
    };
  };
}
