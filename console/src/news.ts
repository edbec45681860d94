import type { Query, QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { components } from '@client/openapi.js';
import { follow, followWhileVisible } from './follow.js';
import { projectId } from './session.js';

type ProjectEvent = components['schemas']['ProjectEvent'];

/** Returns how often a page polls without an event. It polls more often after an error. */
export function pollInterval({ state }: { state: { status: string } }): number {
  return state.status === 'error' ? 4000 : 45_000;
}
const minIntervalMs = 1000;
/** Changes within this time are refetched together. */
const batchMs = 200;

type Key = readonly string[];

/** The first part of the query keys to refetch, by kind of the changed record. */
const queryKeysOf: Readonly<Record<string, readonly string[]>> = {
  action: ['skills'],
  agentflow: ['agentflows', 'agentflow', 'first-agentflow'],
  'api-key': ['keys'],
  'bind-repository': ['syncs'],
  connector: ['connectors', 'connector'],
  dashboard: ['dashboard'],
  file: ['files'],
  inbox: ['inbox'],
  knowledge: ['files'],
  // Do not refetch the verification: it reads the whole chain, so it runs only on request.
  lifecycle: ['lifecycles', 'audit/entries', 'sync-runs'],
  'mcp-authorization': ['authorization'],
  'mcp-tool': ['connector'],
  member: ['members'],
  policies: ['policies'],
  project: ['project', 'mode'],
  settings: ['settings'],
  skill: ['skills'],
  sync: ['syncs'],
  tag: ['tags'],
  table: ['tables', 'table-names', 'table', 'records'],
};

/** Returns the prefixes of the query keys that an event makes stale. */
function staleKeysAfter(event: ProjectEvent): Key[] {
  switch (event.type) {
    case 'opened':
      return [[]];
    case 'schedule_changed':
      return [['schedules'], ['schedule', event.data.schedule_id], ['home', 'next']];
    case 'inbox_changed':
      return [['inbox'], ['approval'], ['approvals'], ['lifecycle'], ['lifecycles']];
    case 'records_changed':
      return (queryKeysOf[event.data.kind] ?? []).map((key) => key.split('/'));
    default:
      return [['runs'], ['home', 'runs'], ['inbox'], ['run', event.data.execution_id], ['credits'], ['customer']];
  }
}

/** Returns whether the person reads older pages of a list, or has just loaded one. A refetch would move the rows. */
export function showsOlderPages({ data, fetchStatus, fetchMeta }: Query['state']): boolean {
  if (fetchStatus !== 'idle' && fetchMeta?.fetchMore) return true;
  return typeof data === 'object' && data !== null && 'pages' in data && (data.pages as unknown[]).length > 1;
}

const staleKeys = new Map<string, Key>();
let refetchedAt = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Refetches the active queries with these key prefixes soon, at most once a second. A hidden page refetches when it
 * becomes visible.
 */
export function refetchSoon(queries: QueryClient, ...keys: Key[]): void {
  for (const key of keys) staleKeys.set(key.join('/'), key);
  timer ??= setTimeout(
    () => {
      timer = undefined;
      refetchedAt = Date.now();
      const refetchType = document.hidden ? 'none' : 'active';
      for (const queryKey of staleKeys.values())
        void queries.invalidateQueries({
          queryKey,
          refetchType,
          // A governed call is made only for the person, because each one is recorded and counted.
          predicate: ({ state, meta }) => meta?.isGoverned !== true && !showsOlderPages(state),
        });
      staleKeys.clear();
    },
    Math.max(batchMs, refetchedAt + minIntervalMs - Date.now()),
  );
}

let isConnected = true;
const listeners = new Set<() => void>();

function setConnected(next: boolean): void {
  if (isConnected === next) return;
  isConnected = next;
  for (const listener of listeners) listener();
}

export function useConnected(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isConnected,
  );
}

/**
 * Follows the events of the project while the page is open. All tabs share one stream: the tab that holds the lock
 * reads it and forwards the events. After it closes, another tab takes over. Locks require HTTPS or localhost; without
 * them, each visible tab has its own stream.
 */
export function followProject(queries: QueryClient): void {
  const name = `console.news.${projectId}`;
  const channel = new BroadcastChannel(name);
  let lastSeq: number | undefined;
  const receive = (message: ProjectEvent | { isConnected: boolean }) => {
    if ('isConnected' in message) return setConnected(message.isConnected);
    setConnected(true);
    lastSeq = Math.max(lastSeq ?? 0, message.seq);
    refetchSoon(queries, ...staleKeysAfter(message));
  };
  const publish = (message: ProjectEvent | { isConnected: boolean }) => {
    receive(message);
    channel.postMessage(message);
  };
  channel.addEventListener('message', ({ data }) => receive(data as ProjectEvent));
  const path = `/${encodeURIComponent(projectId)}/events`;
  const options = {
    last: () => lastSeq,
    onEvent: publish,
    onProblem: (problem: unknown) => publish({ isConnected: problem === undefined }),
  };
  // The DOM types declare it as always present.
  const locks = navigator.locks as LockManager | undefined;
  if (locks) void locks.request(name, () => follow(path, { ...options, signal: new AbortController().signal }));
  else followWhileVisible(path, options);
}
