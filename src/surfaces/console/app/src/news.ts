import type { Query, QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { components } from '../../../../../sdk/node/src/openapi.js';
import { follow } from './follow.js';
import { projectId } from './session.js';

type ProjectEvent = components['schemas']['ProjectEvent'];

/** How often a page asks again although nothing was reported; sooner after a failure. */
export function slowly({ state }: { state: { status: string } }): number {
  return state.status === 'error' ? 4000 : 45_000;
}
const pauseMs = 1000;
/** What happens together is read together. */
const togetherMs = 200;

type Key = readonly string[];

/** The queries that a kind of records is read with. */
const queriesOf: Readonly<Record<string, readonly string[]>> = {
  action: ['skills'],
  agentflow: ['agentflows', 'agentflow', 'first-agentflow'],
  'api-key': ['keys'],
  'bind-repository': ['syncs'],
  connector: ['connectors', 'connector'],
  file: ['files'],
  inbox: ['inbox'],
  knowledge: ['files'],
  // Verifying the chain anew is asked for.
  lifecycle: ['lifecycles', 'audit/entries', 'sync-runs'],
  'mcp-authorization': ['authorization'],
  'mcp-tool': ['connector'],
  member: ['members'],
  policies: ['policies'],
  project: ['project', 'mode'],
  settings: ['settings'],
  skill: ['skills'],
  sync: ['syncs'],
  table: ['tables', 'table-names', 'table', 'records'],
};

/** What an event makes old, as beginnings of query keys. */
function staleAfter(event: ProjectEvent): Key[] {
  switch (event.type) {
    case 'opened':
      return [[]];
    case 'schedule_changed':
      return [['schedules'], ['schedule', event.data.schedule_id], ['home', 'next']];
    case 'inbox_changed':
      return [['inbox'], ['approval'], ['approvals'], ['lifecycle'], ['lifecycles']];
    case 'records_changed':
      return (queriesOf[event.data.kind] ?? []).map((key) => key.split('/'));
    default:
      return [['runs'], ['home', 'runs'], ['inbox'], ['run', event.data.execution_id], ['credits'], ['customer']];
  }
}

/** Whoever reads older pages of a list, or has just asked for one, does not want them to move. */
export function isScrolled({ data, fetchStatus, fetchMeta }: Query['state']): boolean {
  if (fetchStatus !== 'idle' && fetchMeta?.fetchMore) return true;
  return typeof data === 'object' && data !== null && 'pages' in data && (data.pages as unknown[]).length > 1;
}

const stale = new Map<string, Key>();
let readAt = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Reads again soon what the open page shows of this, at most once a second. A hidden page reads when it is shown. */
export function readAgain(queries: QueryClient, ...keys: Key[]): void {
  for (const key of keys) stale.set(key.join('/'), key);
  timer ??= setTimeout(
    () => {
      timer = undefined;
      readAt = Date.now();
      const refetchType = document.hidden ? 'none' : 'active';
      for (const queryKey of stale.values())
        void queries.invalidateQueries({ queryKey, refetchType, predicate: ({ state }) => !isScrolled(state) });
      stale.clear();
    },
    Math.max(togetherMs, readAt + pauseMs - Date.now()),
  );
}

let isConnected = true;
const listeners = new Set<() => void>();

function setConnected(next: boolean): void {
  if (isConnected === next) return;
  isConnected = next;
  for (const listener of listeners) listener();
}

/** Whether changes are reported. */
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
 * Follows the project for as long as the page is open. The tabs of a browser share one stream: the tab that holds the
 * lock reads it and passes the events on; when it is closed, another one continues. Without locks, which need https or
 * localhost, each tab has its own.
 */
export function followProject(queries: QueryClient): void {
  const name = `console.news.${projectId}`;
  const others = new BroadcastChannel(name);
  let last: number | undefined;
  const take = (message: ProjectEvent | { isConnected: boolean }) => {
    if ('isConnected' in message) return setConnected(message.isConnected);
    setConnected(true);
    last = Math.max(last ?? 0, message.seq);
    readAgain(queries, ...staleAfter(message));
  };
  const tell = (message: ProjectEvent | { isConnected: boolean }) => {
    take(message);
    others.postMessage(message);
  };
  others.addEventListener('message', ({ data }) => take(data as ProjectEvent));
  const lead = () =>
    follow<ProjectEvent>(`/${encodeURIComponent(projectId)}/events`, {
      signal: new AbortController().signal,
      last: () => last,
      onEvent: tell,
      onProblem: (problem) => tell({ isConnected: problem === undefined }),
    });
  // The types of the browser always have it.
  const locks = navigator.locks as LockManager | undefined;
  void (locks ? locks.request(name, lead) : lead());
}
