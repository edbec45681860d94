import { useInfiniteQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { Page, PageQuery } from '@client/page.js';
import { showsOlderPages, pollInterval } from './news.js';
import { quantity } from './quantity.js';
import { useLastError } from './use-last-error.js';

type RowOf<P extends Page<unknown>> = P['data'][number];

export interface PagesOptions<P extends Page<unknown>> {
  queryKey: readonly unknown[];
  load(page: PageQuery): Promise<P>;
  /** The singular and the plural noun for the count. */
  counted: readonly [one: string, several: string];
  /** Rows per page, 100 by default. */
  pageSize?: number;
  /** False if there is nothing to load yet. */
  isEnabled?: boolean;
}

/** Loads a list of the API page by page, and refreshes the newest page while it is the only one. */
export function usePages<P extends Page<unknown>>(options: PagesOptions<P>) {
  const { queryKey, load, counted, pageSize = 100, isEnabled = true } = options;
  const [one, several] = counted;
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => load({ limit: pageSize, ...(pageParam !== undefined && { cursor: pageParam }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    enabled: isEnabled,
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
    (matches: (row: RowOf<P>) => boolean, replacement: RowOf<P>) =>
      queries.setQueryData<InfiniteData<P>>(
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
  const rows = useMemo(() => data?.pages.flatMap((page): RowOf<P>[] => page.data), [data]);
  const [newest] = data?.pages ?? [];
  const total = newest?.total_count ?? rows?.length ?? 0;
  const atLeast = newest?.total_is_lower_bound ? 'More than ' : '';
  return {
    rows,
    /** The page with the newest rows; undefined until it is loaded. */
    newest,
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
