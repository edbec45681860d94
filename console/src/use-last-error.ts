import { useRef } from 'react';

/**
 * Keeps the error of a query while a query without data is refetched. The library clears it then, so the message would
 * flicker with each attempt.
 */
export function useLastError(key: string, { error, data }: { error: unknown; data: unknown }): unknown {
  const last = useRef({ key, error });
  if (error || data !== undefined || last.current.key !== key) last.current = { key, error };
  return last.current.error;
}
