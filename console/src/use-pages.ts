import { useInfiniteQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { Page, PageQuery } from '@client/page.js';
import { showsOlderPages, pollInterval } from './news.js';
import { quantity } from './quantity.js';
import { useLastError } from './use-last-error.js';

export interface PagesOptions<T> {
  queryKey: readonly unknown[];
  load(page: PageQuery): Promise<Page<T>>;
  /** The singular and the plural noun for the count. */
  counted: readonly [one: string, several: string];
  /** Rows per page, 100 by default. */
  pageSize?: number;
}

export function usePages<T>({ queryKey, load, counted: [one, several], pageSize = 100 }: PagesOptions<T>) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => load({ limit: pageSize, ...(pageParam !== undefined && { cursor: pageParam }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: ({ state }) => (showsOlderPages(state) ? false : pollInterval({ state })),
  });
  const { data, fetchNextPage, hasNextPage, isFetchingNextPage, refetch } = query;
  const queries = useQueryClient();
  const name = JSON.stringify(queryKey);
  const [refused, setRefused] = useState<{ name: string; error: unknown }>();
  const loadOlder = useCallback(() => {
    if (!isFetchingNextPage)
      void fetchNextPage().then(({ isError, error }) => setRefused(isError ? { name, error } : undefined));
  }, [isFetchingNextPage, fetchNextPage, name]);
  const lastError = useLastError(name, query);
  // Stays when a poll of the first page succeeds.
  const stuck = refused?.name === name ? refused : undefined;
  /** Replaces a changed row without refetching. */
  const replace = useCallback(
    (matches: (row: T) => boolean, replacement: T) =>
      queries.setQueryData<InfiniteData<Page<T>>>(
        JSON.parse(name) as unknown[],
        (known) =>
          known && {
            ...known,
            pages: known.pages.map((page) => ({
              ...page,
              data: page.data.map((row) => (matches(row) ? replacement : row)),
            })),
          },
      ),
    [queries, name],
  );
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data), [data]);
  const [newest] = data?.pages ?? [];
  const total = newest?.total_count ?? rows?.length ?? 0;
  const atLeast = newest?.total_is_lower_bound ? 'More than ' : '';
  return {
    rows,
    total,
    /** For example `More than 10000 rows`. */
    count: newest && `${atLeast}${quantity(total, one, several)}`,
    error: lastError ?? stuck?.error,
    hasOlder: hasNextPage,
    /** Whether the next page could not be loaded. */
    isStuck: stuck !== undefined,
    loadOlder,
    replace,
    reload: refetch,
  };
}
