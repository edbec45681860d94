import { useQuery, type QueryKey } from '@tanstack/react-query';
import { pollInterval } from './news.js';

/** Loads data, and refreshes it although no event reports a change. */
export const usePolled = <T>(queryKey: QueryKey, queryFn: () => Promise<T>) =>
  useQuery({ queryKey, queryFn, refetchInterval: pollInterval });
