import { z } from 'zod';
import { rightsOf, rolesOf } from '../../auth/grants.js';
import { holdsGrant, isPerson, seesWholeOrganization, type Principal } from '../../auth/principal.js';
import { AppError } from '../../base/errors.js';
import { textFacts } from '../../governance/operations/operation.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import type { Deps } from '../deps.js';
import { defineOperation, reads } from '../operation.js';
import { creditsLeft, grantedQuota, modelOfField, type CustomerDocument } from './record.js';
import { readCustomer, setPlan } from './operations/account.js';
import { createCountedRecords } from './records.js';
import { countedLimits, type CountedLimit } from './rules.js';
import { CreditEntry, Customer, OrganizationSettings, OrganizationSettingsPatch } from './schemas.js';
export { storedBytesCollection, storageTotalsCollection } from './storage.js';
export { creditPlacesCollection } from './credit-places.js';
export { customerPlacesCollection } from './reservations.js';
export { customersCollection, creditHistoryCollection } from './record.js';

const organization = { organization_id: z.string().optional().describe("Defaults to the credential's organization.") };

export const readAccount = defineOperation({
  name: 'customer.read',
  ...reads,
  input: z.object(organization),
  output: Customer,
  async run({ deps: { mongo, customers }, ctx: { principal }, input: { organization_id } }) {
    const organizationId = requireOwnOrganization(principal, organization_id);
    await customers.settle(organizationId);
    const account = await readCustomer(mongo.collections, organizationId);
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
      usage: await usageOf(mongo.collections, customers, organizationId, account.models),
    };
  },
});

/** Without access to the whole account, the credential sees the charges of its own project. */
export const listCredits = defineOperation({
  name: 'credit.list',
  ...reads,
  input: ListQuery.extend(organization),
  output: listOf(CreditEntry),
  async run({ deps, ctx: { principal }, input }) {
    const organization_id = requireOwnOrganization(principal, input.organization_id);
    const within = seesWholeAccount(principal) ? {} : { project_id: principal.projectId };
    const page = await listPage(deps.mongo.collections.credit_history, { organization_id, ...within }, input, 'at');
    return { ...page, data: page.data.map(({ applied: _applied, ...entry }) => entry) };
  },
});

export const readOrganizationSettings = defineOperation({
  name: 'organization.read-settings',
  ...reads,
  output: OrganizationSettings,
  run: async ({ deps: { mongo }, ctx: { principal } }) =>
    toOrganizationSettings(await readCustomer(mongo.collections, principal.organizationId)),
});

/** Only a person with the role OWNER, not a program of theirs. */
export const updateOrganizationSettings = defineOperation({
  name: 'organization.update-settings',
  effect: 'write',
  grant: 'svc:orchestrate.write',
  right: ['own'],
  facts: textFacts('runs_without_role'),
  input: OrganizationSettingsPatch,
  output: OrganizationSettings,
  async run({ deps: { mongo }, ctx: { principal }, input: { runs_without_role } }) {
    if (!isPerson(principal) || !rightsOf(rolesOf(principal)).has('own'))
      throw new AppError(
        'access_denied',
        'only a person with the role OWNER can change the settings of the organization',
      );
    await setPlan(mongo.collections, principal.organizationId, { runs_without_role });
    return toOrganizationSettings(await readCustomer(mongo.collections, principal.organizationId));
  },
});

function toOrganizationSettings({ runs_without_role = 'hold' }: Pick<CustomerDocument, 'runs_without_role'>) {
  return { runs_without_role };
}

/** @throws AppError `access_denied` for another organization */
function requireOwnOrganization(principal: Principal, asked: string | undefined): string {
  if (asked === undefined || asked === principal.organizationId) return principal.organizationId;
  throw new AppError('access_denied', 'organization_id: the credential has no access to this organization');
}

/** Whether the principal may see the charges of all projects of the organization (docs/decisions/0017). */
function seesWholeAccount(principal: Principal): boolean {
  return seesWholeOrganization(principal) && (isPerson(principal) || holdsGrant(principal, 'svc:governance.read'));
}

async function usageOf(
  collections: Deps['mongo']['collections'],
  customers: Deps['customers'],
  organizationId: string,
  models: Awaited<ReturnType<typeof readCustomer>>['models'],
): Promise<Customer['usage']> {
  const records = createCountedRecords(collections);
  const [bytes, ...counts] = await Promise.all([
    customers.storageUsed(organizationId),
    ...countedLimits.map(async (limit) => [limit, (await records.all(limit, organizationId)).length] as const),
  ]);
  return {
    ...(Object.fromEntries(counts) as Record<CountedLimit, number>),
    storage_space_in_mb: Math.ceil(bytes / (1024 * 1024)),
    number_of_agent_executions: {
      llm_wise_usage: Object.fromEntries(Object.entries(models).map(([field, use]) => [modelOfField(field), use])),
    },
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '');
}

/** Billing cycles are calendar months in UTC. */
function endOfMonth(ms: number): number {
  const at = new Date(ms);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
}
