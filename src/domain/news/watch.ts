import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Deps } from '../deps.js';
import { openedEvent, type ProjectEvent } from './record.js';
import { changesOf, pageSize, type Change } from './changes.js';

const pollMs = 1000;
/** Processes stamp their writes with their own clocks, and a write becomes visible a moment after its stamp. */
const overlapMs = 5000;
/** The same for a project in which little happens. */
const maxOverlapMs = 60_000;
/** Older news than this is not repeated: the lists are read instead. */
const maxResumeMs = 3_600_000;
/** Runs and other records whose last news is remembered. */
const maxRemembered = 10_000;

type Listener = (events: readonly ProjectEvent[]) => void;

interface ProjectWatch {
  join(projectId: string, listener: Listener): () => void;
}

const watches = new WeakMap<Deps, ProjectWatch>();

/**
 * Gives a viewer the news of its project: first what it missed since `last`, or `opened` if that is unknown or too much,
 * then what changes. An event can come again, and several changes of one record in short succession are one event.
 * @returns a function that ends it
 */
export async function viewProject(
  deps: Deps,
  projectId: string,
  last: number | undefined,
  listener: Listener,
): Promise<() => void> {
  let early: ProjectEvent[] | undefined = [];
  const watch = watches.get(deps) ?? createWatch(deps);
  watches.set(deps, watch);
  const leave = watch.join(projectId, (events) => void (early ? early.push(...events) : listener(events)));
  try {
    listener(await missedSince(deps, projectId, last));
    listener(early);
    early = undefined;
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}

async function missedSince(deps: Deps, projectId: string, last: number | undefined): Promise<ProjectEvent[]> {
  const now = Date.now();
  // A last event that another clock put into the future says nothing about what was missed.
  const isKnown = last !== undefined && last > now - maxResumeMs && last <= now + overlapMs;
  const missed = isKnown ? await changesOf(deps, [projectId], last - overlapMs) : [];
  return isKnown && missed.length < pageSize ? missed.map(({ event }) => event) : [openedEvent(now)];
}

/** All viewers of this process share one poll, which asks for the projects that have viewers. */
function createWatch(deps: Deps): ProjectWatch {
  const viewers = new Map<string, Set<Listener>>();
  const seen = new LRUCache<string, { projectId: string; at: number; state: string }>({ max: maxRemembered });
  let isPolling = false;

  const tell = (changes: readonly Change[]) => {
    const fresh = new Map<string, ProjectEvent[]>();
    for (const { key, projectId, event, state } of changes) {
      const before = seen.get(key);
      // The clock of the process that wrote last can be behind.
      if (before && (before.at === event.seq || before.state === state)) continue;
      seen.set(key, { projectId, at: event.seq, state: state ?? '' });
      fresh.set(projectId, [...(fresh.get(projectId) ?? []), event]);
    }
    for (const [projectId, events] of fresh) for (const listener of viewers.get(projectId) ?? []) listener(events);
  };

  const poll = async () => {
    isPolling = true;
    const { signal } = deps.stopping;
    let hasFailed = false;
    for (let from = Date.now() - overlapMs; viewers.size > 0 && !signal.aborted;) {
      const startedAt = Date.now();
      try {
        const changes = await changesOf(deps, [...viewers.keys()], from);
        hasFailed = false;
        tell(changes);
        const newest = changes.at(-1)?.event.seq ?? 0;
        if (changes.length >= pageSize && newest < startedAt) {
          from = Math.max(from + 1, newest);
          continue;
        }
        // A clock that is ahead does not hide what others write.
        from = Math.min(Math.max(from, newest - overlapMs, startedAt - maxOverlapMs), startedAt - overlapMs);
      } catch (error) {
        if (!hasFailed) deps.log.warn({ err: error }, 'the news of projects cannot be read; trying again');
        hasFailed = true;
      }
      await delay(pollMs, undefined, { signal }).catch(() => undefined);
    }
    isPolling = false;
  };

  return {
    join(projectId, listener) {
      const listeners = viewers.get(projectId) ?? new Set();
      // What happened without viewers is unknown here.
      if (listeners.size === 0) for (const [key, at] of seen) if (at.projectId === projectId) seen.delete(key);
      viewers.set(projectId, listeners.add(listener));
      if (!isPolling) void poll();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && viewers.get(projectId) === listeners) viewers.delete(projectId);
      };
    },
  };
}
