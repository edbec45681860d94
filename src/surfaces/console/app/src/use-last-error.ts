import { useRef } from 'react';

/**
 * The error of a query, which stays while the query without data is read again. The library forgets it then, so that a
 * message would disappear and come back with each attempt.
 */
export function useLastError(key: string, { error, data }: { error: unknown; data: unknown }): unknown {
  const last = useRef({ key, error });
  if (error || data !== undefined || last.current.key !== key) last.current = { key, error };
  return last.current.error;
}
