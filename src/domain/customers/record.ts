import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import {
  accessControls,
  defaultQuota,
  forEachLimit,
  type Quota,
  type AccessControl,
  type CountedLimit,
} from './rules.js';
import type { CreditUse } from './credit-places.js';
import type { CreditEntry } from './schemas.js';

const Count = z.int().min(0);

/** A change of a plan by an operator. Omitted fields are unchanged; credits replace the remaining credits. */
export const PlanPatch = z
  .strictObject({
    plan: z.string().min(1).max(100),
    runs_without_role: z.enum(['hold', 'end']),
    ...forEachLimit(Count),
    number_of_credits: z
      .strictObject({ subscription_credits: z.number().min(0), top_up_credits: z.number().min(0) })
      .partial(),
    access_controls: z.strictObject(Object.fromEntries(accessControls.map((name) => [name, z.boolean().optional()]))),
    base_credit_deduction_per_execution: z.number().min(0),
    marketplace: z.strictObject({ connectors: z.record(z.string(), z.unknown()) }),
  })
  .partial();
export type PlanPatch = z.infer<typeof PlanPatch>;

interface ModelUsage {
  executions: number;
  input_tokens: number;
  output_tokens: number;
}

/** `_id` is the organization id. Created with the default plan on first use. */
export interface CustomerDocument {
  _id: string;
  organization_name: string;
  user_id: string;
  email: string;
  plan: string;
  /** The differences from the default plan. */
  quota: Omit<PlanPatch, 'plan' | 'runs_without_role' | 'number_of_credits'> &
    Partial<Pick<Quota, 'number_of_credits'>>;
  /** What becomes of the runs of people without a role. Absent: `hold`. */
  runs_without_role?: 'hold' | 'end';
  /** The total of all time. The credits in `quota` were the remaining credits when the total was `credits_used_before`. */
  credits_used: number;
  credits_used_before: number;
  /** By model name. Dots and dollar signs are full-width, because MongoDB field names must not contain them. */
  models: Record<string, ModelUsage>;
  /** Keys of recent charges, so that a repeated charge is counted once. */
  charged: string[];
  /** How many times keys were removed from `charged`. Absent before the first removal. */
  forgotten?: number;
  /** Epoch seconds. */
  created_at: number;
  updated_at: number;
}

/** A charge. `_id` is its key. */
export interface CreditEntryDocument extends CreditEntry {
  /** True when the customer's record includes the charge. */
  applied: boolean;
}

/** The limits of the plan, without usage. */
export function grantedQuota({ quota }: Pick<CustomerDocument, 'quota'>): Quota {
  const { access_controls, ...limits } = quota;
  return {
    ...defaultQuota,
    ...definedOf(limits),
    access_controls: { ...defaultQuota.access_controls, ...definedOf(access_controls ?? {}) },
  };
}

function definedOf<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/** The remaining credits. Subscription credits are used first. Top-up credits become negative on overuse. */
export function creditsLeft(
  customer: Pick<CustomerDocument, 'quota' | 'credits_used' | 'credits_used_before'>,
): Quota['number_of_credits'] {
  const { subscription_credits: subscription, top_up_credits: topUp } = grantedQuota(customer).number_of_credits;
  const used = customer.credits_used - customer.credits_used_before;
  return {
    subscription_credits: rounded(Math.max(0, subscription - used)),
    top_up_credits: rounded(topUp - Math.max(0, used - subscription)),
  };
}

/** Removes floating-point errors from sums of fractional credits. */
function rounded(credits: number): number {
  return Math.round(credits * 1e6) / 1e6;
}

export function fieldOfModel(model: string): string {
  return model.replaceAll('.', '．').replaceAll('$', '＄') || 'default';
}

export function modelOfField(field: string): string {
  return field.replaceAll('．', '.').replaceAll('＄', '$');
}

export const customersCollection = defineCollection('customers', {});
export const creditHistoryCollection = defineCollection('credit_history', {
  indexes: [
    { keys: { organization_id: 1, at: -1, _id: -1 } },
    { keys: { organization_id: 1, project_id: 1, at: -1, _id: -1 } },
    { keys: { organization_id: 1, applied: 1 } },
    { keys: { project_id: 1, at: 1 } },
  ],
});

declare module '../../stores/collections.js' {
  interface Documents {
    customers: CustomerDocument;
    credit_history: CreditEntryDocument;
  }
}

/** An entry of the credit ledger. `key` makes repeated charges idempotent. */
export interface Charge {
  /** `<execution_id>` for the base deduction, `<execution_id>/<step>` for a model turn. */
  key: string;
  projectId: string;
  executionId: string;
  agentflowId: string;
  /** `base`: the plan's deduction for an execution. */
  credits: number | 'base';
  /** The model turns that are charged. Null for the base deduction of an execution. */
  turns: { model: string; input_tokens: number; output_tokens: number } | null;
}

/** The accounts of organizations: the limits of their plans and their usage (specification, Customer). */
export interface Customers {
  quotaOf(organizationId: string): Promise<Quota>;
  /**
   * Reserves one place of a counted limit for the record `id`, before the record is created. Idempotent by `id`.
   * @throws AppError `plan_limit` with the limit, its maximum and the current usage
   */
  reserve(organizationId: string, limit: CountedLimit, id: string): Promise<void>;
  /** Releases the place after the record was deleted. Idempotent. */
  release(organizationId: string, limit: CountedLimit, id: string): Promise<void>;
  /** Reserves `bytes` of storage for the file `id`. Another call with the same id replaces the size. @throws AppError `plan_limit` */
  reserveStorage(organizationId: string, id: string, bytes: number): Promise<void>;
  releaseStorage(organizationId: string, id: string): Promise<void>;
  /** In bytes. */
  storageUsed(organizationId: string): Promise<number>;
  /** @throws AppError `plan_limit` if `use` exceeds the limit */
  refuseBeyond(organizationId: string, limit: 'number_of_agents_per_coworker', use: number): Promise<void>;
  /** @throws AppError `plan_limit` if the plan does not include the feature */
  requireFeature(organizationId: string, feature: AccessControl): Promise<void>;
  /** @throws AppError `plan_limit` if the remaining credits do not cover another execution */
  requireCredits(organizationId: string): Promise<void>;
  /**
   * Reserves what an execution costs at least, before it begins, so that what begins at the same time is covered. Idempotent.
   * @throws AppError `plan_limit`
   */
  reserveCredits(organizationId: string, use: CreditUse): Promise<void>;
  /** Releases the credits of what did not begin. Idempotent. */
  releaseCredits(organizationId: string, use: CreditUse): Promise<void>;
  /** Deducts credits and counts turns, once for each `key`. Never refuses: completed work is always charged. */
  charge(organizationId: string, charges: readonly Charge[]): Promise<void>;
  /** Completes charges that a crashed process left unfinished. Call it before returning the account. */
  settle(organizationId: string): Promise<void>;
}
