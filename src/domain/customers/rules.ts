import { AppError } from '../../base/errors.js';

/** The limits of a plan that count records (specification, Customer, quota). */
export const countedLimits = [
  'number_of_coworkers',
  'number_of_members',
  'number_of_workspaces',
  'number_of_tables',
  'number_of_connectors',
  'number_of_premium_connectors',
] as const;
export type CountedLimit = (typeof countedLimits)[number];

/** Connectors of these categories are premium, because they act through an account provider. */
export const premiumCategories: readonly string[] = ['professional_network', 'content_creator'];

/** All integer limits of a plan. */
const planLimits = [
  ...countedLimits,
  'number_of_agents_per_coworker',
  'number_of_rows_per_table',
  'storage_space_in_mb',
] as const;
type PlanLimit = (typeof planLimits)[number];

/** The limits and features of a plan (specification, Customer, quota). */
export interface Quota extends Record<PlanLimit, number> {
  number_of_credits: { subscription_credits: number; top_up_credits: number };
  access_controls: Record<AccessControl, boolean>;
  base_credit_deduction_per_execution: number;
  marketplace: { connectors: Record<string, unknown> };
}

export const accessControls = [
  'premium_connectors',
  'anomaly_detection',
  'knowledge_base',
  'triggers',
  'api_access',
  'webhooks',
  'bring_your_own_provider',
  'custom_llm_fine_tuning',
  'chat_support',
  'slack_channel_support',
  'email_support',
  'scheduling_and_cron_jobs',
] as const;
export type AccessControl = (typeof accessControls)[number];

/** An object with the same value, such as a schema, for each limit. */
export function forEachLimit<T>(value: T): Record<PlanLimit, T> {
  return Object.fromEntries(planLimits.map((name) => [name, value])) as Record<PlanLimit, T>;
}

/** The plan of a new organization. */
export const defaultQuota: Quota = {
  number_of_premium_connectors: 50,
  number_of_coworkers: 1000,
  number_of_agents_per_coworker: 100,
  number_of_members: 1000,
  number_of_workspaces: 200,
  number_of_tables: 500,
  number_of_rows_per_table: 1_000_000,
  number_of_connectors: 500,
  storage_space_in_mb: 10_240,
  number_of_credits: { subscription_credits: 1_000_000, top_up_credits: 0 },
  access_controls: Object.fromEntries(accessControls.map((name) => [name, true])) as Record<AccessControl, boolean>,
  base_credit_deduction_per_execution: 1,
  marketplace: { connectors: {} },
};

/** The refusal of a limit, which is a 403 (contract, Conventions). */
export function planLimit(limit: string, maximum: number, use: number, unit = ''): AppError {
  return new AppError('plan_limit', `${limit}: the plan allows ${maximum}${unit}, ${use}${unit} are in use`);
}
