import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import { creditsLeft, grantedQuota, modelOfField, type CreditEntryDocument } from '../../customers/account.js';
import { readCustomer } from '../../customers/account-store.js';
import { accessControls, defaultQuota, forEachLimit } from '../../customers/plan.js';
import { createCountedRecords } from '../../customers/records.js';
import type { Deps } from '../../deps.js';
import { AppError } from '../../errors.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { listOf, listPage, ListQuery } from '../../http/lists.js';

const Count = z.int();
const IsoTime = z.string().meta({ description: 'ISO 8601 in UTC, without a zone.', example: '2026-01-02T03:04:05.000' });

const CustomerQuota = z
  .object({
    ...forEachLimit(Count),
    number_of_credits: z.object({ subscription_credits: z.number(), top_up_credits: z.number() }).meta({ description: 'What is left.' }),
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
    storage_space_in_mb: Count.meta({ description: 'Begun megabytes count as whole ones.' }),
    number_of_premium_connectors: Count,
    number_of_agent_executions: z.object({
      llm_wise_usage: z.record(z.string(), z.object({ executions: Count, input_tokens: Count, output_tokens: Count })),
    }),
  })
  .meta({ id: 'CustomerUsage' });

/** The account of an organization (specification, Customer). */
const Customer = z
  .object({
    _id: z.string(),
    organization_name: z.string(),
    organization_id: z.string(),
    user_id: z.string(),
    customer_id: z.string().nullable(),
    email: z.string(),
    plan: z.string(),
    subscription_id: z.string().nullable(),
    trial_end_date: z.string().nullable(),
    support_plan_expiry: z.string().nullable(),
    premium_connectors_subscription_id: z.string().nullable(),
    support_subscription_id: z.string().nullable(),
    item_id: z.string(),
    is_trial_active: z.boolean(),
    billing_cycle_expiry: IsoTime,
    created_at: IsoTime,
    updated_at: IsoTime,
    metadata: z.object({ premium_connector_discount_applied: z.boolean() }),
    quota: CustomerQuota,
    usage: CustomerUsage,
  })
  .meta({ id: 'Customer' });
type Customer = z.infer<typeof Customer>;

const CreditEntry = z
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
    at: z.number().meta({ description: 'Epoch seconds.' }),
  })
  .meta({
    id: 'CreditEntry',
    example: {
      _id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10',
      organization_id: 'org_1',
      project_id: 'project_1',
      execution_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10',
      agentflow_id: 'agentflow_1',
      kind: 'execution',
      credits: 1,
      model: null,
      input_tokens: 0,
      output_tokens: 0,
      at: 1763683200.5,
    },
  });

const tag = 'customer';
const permission = 'svc:orchestrate.read';
const scope = 'organization';
const organization = { organization_id: z.string().optional().meta({ description: "By default the credential's organization." }) };

/** The account with its plan and what is in use of it, and where the credits went (contract, customer). */
export function customerRoutes(deps: Pick<Deps, 'mongo' | 'customers'>): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/customer',
      permission,
      tag,
      scope,
      query: z.object(organization),
      summary: 'Read the account of the organization',
      response: { schema: Customer, description: 'The account, its plan and its use.' },
      handler: ({ ctx: { principal }, query }) => showCustomer(deps, ownOrganization(principal, query.organization_id)),
    }),
    defineRoute({
      method: 'get',
      path: '/credit/history',
      permission,
      tag,
      scope,
      query: ListQuery.extend(organization),
      summary: 'List what the credits went to, newest execution first',
      response: { schema: listOf(CreditEntry), description: 'The deduction of each execution, and the turns of its agents.' },
      async handler({ ctx: { principal }, query }) {
        const organization_id = ownOrganization(principal, query.organization_id);
        const page = await listPage(deps.mongo.collections.credit_history, { organization_id }, query);
        return { ...page, data: page.data.map(({ applied: _applied, ...entry }: CreditEntryDocument) => entry) };
      },
    }),
  ];
}

/** @throws AppError `access_denied` for another organization's */
function ownOrganization(principal: Principal, asked: string | undefined): string {
  if (asked === undefined || asked === principal.organizationId) return principal.organizationId;
  throw new AppError('access_denied', 'organization_id: outside the scope of the credential');
}

async function showCustomer({ mongo: { collections }, customers }: Pick<Deps, 'mongo' | 'customers'>, organizationId: string): Promise<Customer> {
  await customers.settle(organizationId);
  const account = await readCustomer(collections, organizationId);
  const quota = grantedQuota(account);
  const { organization_name, user_id, email, plan, created_at, updated_at } = account;
  return {
    _id: organizationId,
    organization_name,
    organization_id: organizationId,
    user_id,
    customer_id: null,
    email,
    plan,
    subscription_id: null,
    trial_end_date: null,
    support_plan_expiry: null,
    premium_connectors_subscription_id: null,
    support_subscription_id: null,
    item_id: plan,
    is_trial_active: false,
    billing_cycle_expiry: isoTime(endOfMonth(Date.now())),
    created_at: isoTime(created_at * 1000),
    updated_at: isoTime(updated_at * 1000),
    metadata: { premium_connector_discount_applied: false },
    quota: { ...quota, number_of_credits: creditsLeft(account) },
    usage: await usageOf(collections, customers, organizationId, account.models),
  };
}

async function usageOf(
  collections: Deps['mongo']['collections'],
  customers: Deps['customers'],
  organizationId: string,
  models: Awaited<ReturnType<typeof readCustomer>>['models'],
): Promise<Customer['usage']> {
  const records = createCountedRecords(collections);
  const count = async (limit: Parameters<typeof records.all>[0]) => (await records.all(limit, organizationId)).length;
  const [coworkers, members, workspaces, tables, connectors, premium, bytes] = await Promise.all([
    count('number_of_coworkers'),
    count('number_of_members'),
    count('number_of_workspaces'),
    count('number_of_tables'),
    count('number_of_connectors'),
    count('number_of_premium_connectors'),
    customers.storageUsed(organizationId),
  ]);
  return {
    number_of_coworkers: coworkers,
    number_of_members: members,
    number_of_workspaces: workspaces,
    number_of_tables: tables,
    number_of_connectors: connectors,
    number_of_premium_connectors: premium,
    storage_space_in_mb: Math.ceil(bytes / (1024 * 1024)),
    number_of_agent_executions: { llm_wise_usage: Object.fromEntries(Object.entries(models).map(([field, use]) => [modelOfField(field), use])) },
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '');
}

/** Plans are billed by the calendar month, in UTC. */
function endOfMonth(ms: number): number {
  const at = new Date(ms);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
}
