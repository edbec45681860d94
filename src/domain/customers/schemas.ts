import { z } from 'zod';
import { accessControls, defaultQuota, forEachLimit } from './rules.js';
import { Id, OrganizationId, UserId, exampleId } from '../../base/ids.js';

const Count = z.int().meta({ example: 3 });
const IsoTime = z
  .string()
  .describe('ISO 8601 in UTC, without a time zone.')
  .meta({ example: '2026-01-02T03:04:05.000' });

const CustomerQuota = z
  .object({
    ...forEachLimit(Count),
    number_of_credits: z
      .object({ subscription_credits: z.number(), top_up_credits: z.number() })
      .describe('The remaining credits.'),
    access_controls: z.object(Object.fromEntries(accessControls.map((name) => [name, z.boolean()]))),
    base_credit_deduction_per_execution: z.number(),
    marketplace: z.object({ connectors: z.record(z.string(), z.unknown()) }),
  })
  .meta({ id: 'CustomerQuota', example: defaultQuota });

const CustomerUsage = z
  .object({
    number_of_coworkers: Count,
    number_of_members: Count,
    number_of_workspaces: Count,
    number_of_tables: Count,
    number_of_connectors: Count,
    storage_space_in_mb: Count.describe('Rounded up to whole megabytes.'),
    number_of_premium_connectors: Count,
    number_of_agent_executions: z.object({
      llm_wise_usage: z.record(z.string(), z.object({ executions: Count, input_tokens: Count, output_tokens: Count })),
    }),
  })
  .meta({ id: 'CustomerUsage' });

const Subscription = z.string().nullable().meta({ example: 'sub_1042' });

/** The account of an organization (specification, Customer). */
export const Customer = z
  .object({
    _id: Id,
    organization_name: z.string().meta({ example: 'Acme Insurance' }),
    organization_id: OrganizationId,
    user_id: UserId,
    customer_id: Id.nullable(),
    email: z.string().meta({ example: 'grace@acme.dev' }),
    plan: z.string().meta({ example: 'team' }),
    subscription_id: Subscription,
    trial_end_date: z.string().nullable().meta({ example: '2026-12-31T00:00:00.000' }),
    support_plan_expiry: z.string().nullable().meta({ example: null }),
    premium_connectors_subscription_id: Subscription,
    support_subscription_id: Subscription,
    item_id: Id,
    is_trial_active: z.boolean(),
    billing_cycle_expiry: IsoTime,
    created_at: IsoTime,
    updated_at: IsoTime,
    metadata: z.object({ premium_connector_discount_applied: z.boolean() }),
    quota: CustomerQuota,
    usage: CustomerUsage,
  })
  .meta({ id: 'Customer' });
export type Customer = z.infer<typeof Customer>;

export const CreditEntry = z
  .object({
    _id: z.string(),
    organization_id: z.string(),
    project_id: z.string(),
    execution_id: z.string(),
    agentflow_id: z.string(),
    kind: z.enum(['execution', 'model_turn']),
    credits: z.number(),
    model: z.string().nullable(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    at: z.number().describe('Epoch seconds.'),
  })
  .meta({
    id: 'CreditEntry',
    example: {
      _id: exampleId,
      organization_id: 'org_1',
      project_id: 'project_1',
      execution_id: exampleId,
      agentflow_id: 'agentflow_1',
      kind: 'execution',
      credits: 1,
      model: null,
      input_tokens: 0,
      output_tokens: 0,
      at: 1763683200.5,
    },
  });
export type CreditEntry = z.infer<typeof CreditEntry>;

const RunsWithoutRole = z
  .enum(['hold', 'end'])
  .describe('What becomes of runs whose person no longer has a role that permits them: they are paused, or they end.');
export const OrganizationSettings = z
  .object({ runs_without_role: RunsWithoutRole })
  .meta({ id: 'OrganizationSettings', example: { runs_without_role: 'hold' } });
export const OrganizationSettingsPatch = z
  .strictObject({ runs_without_role: RunsWithoutRole.optional() })
  .meta({ id: 'OrganizationSettingsPatch', example: { runs_without_role: 'end' } });
