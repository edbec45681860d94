import { z } from 'zod';
import { accessControls, defaultQuota, forEachLimit, type Quota } from './plan.js';

const Count = z.int().min(0);

/** A plan as an operator sets it; what is left out stays as it is. Credits are those that are left from now on. */
export const PlanPatch = z
  .strictObject({
    plan: z.string().min(1).max(100),
    ...forEachLimit(Count),
    number_of_credits: z.strictObject({ subscription_credits: z.number().min(0), top_up_credits: z.number().min(0) }).partial(),
    access_controls: z.strictObject(Object.fromEntries(accessControls.map((name) => [name, z.boolean().optional()]))),
    base_credit_deduction_per_execution: z.number().min(0),
    marketplace: z.strictObject({ connectors: z.record(z.string(), z.unknown()) }),
  })
  .partial();
export type PlanPatch = z.infer<typeof PlanPatch>;

export interface ModelUsage {
  executions: number;
  input_tokens: number;
  output_tokens: number;
}

/** `_id` is the organization. Made with the default plan when somebody first asks for it. */
export interface CustomerDocument {
  _id: string;
  organization_name: string;
  user_id: string;
  email: string;
  plan: string;
  /** What differs from the default plan. */
  quota: Omit<PlanPatch, 'plan' | 'number_of_credits'> & Partial<Pick<Quota, 'number_of_credits'>>;
  /** Of all time; the credits of the quota are those that were left at `credits_used_before`. */
  credits_used: number;
  credits_used_before: number;
  /** By the model's name, its dots and dollars in their full-width form, since neither may stand in a field's name. */
  models: Record<string, ModelUsage>;
  /** Keys of the newest charges, so that one that is repeated is counted once. */
  charged: string[];
  /** How often keys were taken from `charged`; absent before the first time. */
  forgotten?: number;
  /** Epoch seconds. */
  created_at: number;
  updated_at: number;
}

/** One charge; `_id` is its key. */
export interface CreditEntryDocument {
  _id: string;
  organization_id: string;
  project_id: string;
  execution_id: string;
  agentflow_id: string;
  kind: 'execution' | 'model_turn';
  credits: number;
  model: string | null;
  input_tokens: number;
  output_tokens: number;
  at: number;
  /** False until it is counted in the customer's record. */
  applied: boolean;
}

/** What the plan allows, before anything was used. */
export function grantedQuota({ quota }: Pick<CustomerDocument, 'quota'>): Quota {
  const { access_controls, ...limits } = quota;
  return { ...defaultQuota, ...definedOf(limits), access_controls: { ...defaultQuota.access_controls, ...definedOf(access_controls ?? {}) } };
}

function definedOf<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** What is left of the credits: the subscription's go first; less than nothing where more was owed than there was. */
export function creditsLeft(customer: Pick<CustomerDocument, 'quota' | 'credits_used' | 'credits_used_before'>): Quota['number_of_credits'] {
  const { subscription_credits: subscription, top_up_credits: topUp } = grantedQuota(customer).number_of_credits;
  const used = customer.credits_used - customer.credits_used_before;
  return { subscription_credits: rounded(Math.max(0, subscription - used)), top_up_credits: rounded(topUp - Math.max(0, used - subscription)) };
}

/** Fractions of credits are added up; what binary fractions leave behind is not shown. */
function rounded(credits: number): number {
  return Math.round(credits * 1e6) / 1e6;
}

export function fieldOfModel(model: string): string {
  return model.replaceAll('.', '．').replaceAll('$', '＄') || 'default';
}

export function modelOfField(field: string): string {
  return field.replaceAll('．', '.').replaceAll('＄', '$');
}
