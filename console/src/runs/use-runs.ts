import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import type { Page } from '@client/page.js';
import { call, type Execution } from '../api.js';
import { pollInterval } from '../news.js';
import { useLastError } from '../use-last-error.js';
import { queryOf, type RunFilter } from './filter.js';

const pageSize = 100;

/** The loaded runs, newest first, and the cursor of the next page, which is null at the end of the list. */
interface Loaded {
  rows: Execution[];
  older: string | null;
}

interface Answer {
  page: Page<Execution>;
  /** The response covers every run from this time down to its last row. */
  top: number;
}

/**
 * Replaces the part of the list that a response covers. Runs missing from it no longer match the filter. If a change
 * leaves a gap between the response and the loaded rows, the list starts over.
 */
function merged(loaded: Loaded | undefined, { page, top }: Answer): Loaded {
  const { data, next_cursor } = page;
  const bottom = next_cursor === null ? -Infinity : (data.at(-1)?.created_at ?? -Infinity);
  const first = loaded?.rows[0];
  if (!loaded || (top === Infinity && first !== undefined && bottom > first.created_at))
    return { rows: data, older: next_cursor };
  const answered = new Set(data.map(({ execution_id }) => execution_id));
  const kept = loaded.rows.filter(
    ({ execution_id, created_at }) => !answered.has(execution_id) && (created_at > top || created_at <= bottom),
  );
  const rows = [...kept, ...data].sort(
    (a, b) => b.created_at - a.created_at || (a.execution_id < b.execution_id ? 1 : -1),
  );
  const reachesEnd = next_cursor === null || rows.at(-1)?.execution_id === data.at(-1)?.execution_id;
  return { rows, older: reachesEnd ? next_cursor : loaded.older };
}

/** Loads the list of runs page by page, and keeps the visible part up to date. */
export function useRuns(filter: RunFilter) {
  const [loaded, add] = useReducer(merged, undefined);
  const [total, setTotal] = useState<{ count: number; isMore: boolean }>();
  const [visibleFrom, setVisibleFrom] = useState(Infinity);
  const load = useCallback(
    (more: { cursor?: string; to?: number }, signal: AbortSignal) =>
      call(
        'get',
        '/{projectID}/execution_flows',
        { query: { limit: pageSize, fields: 'summary', ...queryOf(filter), ...more } },
        { signal },
      ) as Promise<Page<Execution>>,
    [filter],
  );
  const isAtTop = visibleFrom === Infinity;
  const live = useQuery({
    queryKey: ['runs', filter, visibleFrom],
    queryFn: async ({ signal }): Promise<Answer> => ({
      page: await load(isAtTop ? {} : { to: visibleFrom }, signal),
      top: visibleFrom,
    }),
    refetchInterval: pollInterval,
  });
  const { data } = live;
  const error = useLastError(JSON.stringify(filter), live);
  useEffect(() => {
    if (!data) return;
    add(data);
    if (data.top === Infinity)
      setTotal({ count: data.page.total_count, isMore: data.page.total_is_lower_bound === true });
  }, [data]);

  const isLoading = useRef(false);
  const cursor = loaded?.older ?? undefined;
  const [problem, setProblem] = useState<unknown>();
  const loadOlder = useCallback(async () => {
    if (isLoading.current || cursor === undefined) return;
    isLoading.current = true;
    try {
      const page = await load({ cursor }, new AbortController().signal);
      add({ page, top: page.data[0]?.created_at ?? -Infinity });
      setProblem(undefined);
    } catch (error) {
      setProblem(error);
    } finally {
      isLoading.current = false;
    }
  }, [cursor, load]);
  return {
    rows: loaded?.rows,
    total,
    error: error ?? problem,
    hasOlder: cursor !== undefined,
    isStuck: problem !== undefined,
    loadOlder,
    setVisibleFrom,
    reload: live.refetch,
  };
}
