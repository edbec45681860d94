import { useEffect, useRef, useState } from 'react';
import { paginate, type Page } from '@client/page.js';
import { call, type Execution } from '../api.js';
import { queryOf, type RunFilter } from './filter.js';

const maxRuns = 10_000;

/** Reads all runs that match a filter, at most the newest 10,000, also those that the list has not loaded. */
export function useMatchingRuns(filter: RunFilter) {
  const [runs, setRuns] = useState<readonly Execution[]>([]);
  /** How many have been read so far; undefined if none are being read. */
  const [count, setCount] = useState<number>();
  const [error, setError] = useState<unknown>();
  const reading = useRef<AbortController>(undefined);
  const stop = () => {
    reading.current?.abort();
    setCount(undefined);
  };
  useEffect(() => () => reading.current?.abort(), []);
  /** @returns the runs; none if it was stopped or failed */
  const read = async (): Promise<readonly Execution[]> => {
    const { signal } = (reading.current = new AbortController());
    const found: Execution[] = [];
    setError(undefined);
    setCount(0);
    const load = (page: object) =>
      call(
        'get',
        '/{projectID}/execution_flows',
        { query: { fields: 'summary', ...queryOf(filter), ...page } },
        { signal },
      ) as Promise<Page<Execution>>;
    try {
      for await (const run of paginate(load, { limit: 200 })) {
        found.push(run);
        if (found.length % 200 === 0) setCount(found.length);
        if (found.length === maxRuns) break;
      }
    } catch (failure) {
      if (!signal.aborted) {
        setError(failure);
        setCount(undefined);
      }
      return [];
    }
    setCount(undefined);
    setRuns(found);
    return found;
  };
  return { runs, count, error, read, stop };
}
