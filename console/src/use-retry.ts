import { useQueryClient } from '@tanstack/react-query';
import { ServiceError } from '@client/service-error.js';

/** Whether the same request can succeed later, unlike a refusal. */
const isTemporary = (error: unknown) =>
  !(error instanceof ServiceError) || error.status >= 500 || error.status === 408 || error.status === 429;

/** Returns a function that reads again what failed with this error; undefined for a refusal, and if no query failed. */
export function useRetry(error: unknown): (() => void) | undefined {
  const queries = useQueryClient();
  if (error === undefined || error === null || !isTemporary(error)) return undefined;
  const failed = queries.getQueryCache().findAll({ predicate: ({ state }) => state.error === error });
  return failed.length === 0 ? undefined : () => void Promise.all(failed.map((query) => query.fetch().catch(() => {})));
}
