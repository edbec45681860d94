import type { AccessControl, CountedLimit, Quota } from './plan.js';

/** One entry of the credit ledger; `key` makes it one, however often the same charge is asked for. */
export interface Charge {
  /** `<execution_id>` for the base deduction, `<execution_id>/<step>` for a model turn. */
  key: string;
  projectId: string;
  executionId: string;
  agentflowId: string;
  credits: number;
  /** The model turns that it stands for; null for the base deduction of an execution. */
  turns: { model: string; input_tokens: number; output_tokens: number } | null;
}

/** The accounts of organizations: what their plan allows, and what is in use of it (specification, Customer). */
export interface Customers {
  quotaOf(organizationId: string): Promise<Quota>;
  /**
   * Takes one place of a counted limit for the record `id`, before the record is made. The same id again takes none.
   * @throws AppError `plan_limit` that names the limit, its maximum and the present use
   */
  reserve(organizationId: string, limit: CountedLimit, id: string): Promise<void>;
  /** Gives the place back, after the record is gone. A repeat changes nothing. */
  release(organizationId: string, limit: CountedLimit, id: string): Promise<void>;
  /** Takes `bytes` of the storage for the file `id`; called again for the same id it sets its size. @throws AppError `plan_limit` */
  reserveStorage(organizationId: string, id: string, bytes: number): Promise<void>;
  releaseStorage(organizationId: string, id: string): Promise<void>;
  /** Bytes. */
  storageUsed(organizationId: string): Promise<number>;
  /** @throws AppError `plan_limit` where `use` exceeds a limit that is counted by its own record */
  refuseBeyond(organizationId: string, limit: 'number_of_agents_per_coworker', use: number): Promise<void>;
  /** @throws AppError `plan_limit` where the plan lacks a feature */
  requireFeature(organizationId: string, feature: AccessControl): Promise<void>;
  /** @throws AppError `plan_limit` where no credits are left for another execution */
  requireCredits(organizationId: string): Promise<void>;
  /** Deducts credits and counts turns, once for each `key`. Never refused: what was done is owed. */
  charge(organizationId: string, charges: readonly Charge[]): Promise<void>;
  /** Counts what was charged by a process that died half-way; before the account is shown. */
  settle(organizationId: string): Promise<void>;
}
