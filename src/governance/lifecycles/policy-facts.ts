import type { FactValue } from '../operations/operation.js';

/**
 * What S5 knew about a call, apart from what its lifecycle contains. Other rules can later be tried on the call with it.
 * No route returns it. A missing field was unknown or must not be kept (decision 0019).
 */
export interface PolicyFacts {
  /** When S5 decided, in epoch seconds. */
  at: number;
  /** Only if it differs from the `tool` of the lifecycle. */
  operation?: string;
  role: string;
  /** Only if the caller has several. */
  roles?: readonly string[];
  /** Separated by spaces. */
  grants: string;
  channel: string;
  /** Only if a rule in force asked for it. */
  mode?: 'simple' | 'governed';
  dry_run: boolean;
  resource_type: string;
  resource_id?: string;
  input: Record<string, FactValue>;
  /** Facts that could not be computed. A missing fact that is not listed here had a value that is not kept. */
  absent?: string[];
}
