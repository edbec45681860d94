import { AppError } from '../errors.js';
import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/mongo.js';
import { epochSeconds } from '../time.js';
import { creditsLeft, grantedQuota, type CustomerDocument, type PlanPatch } from './account.js';
import type { Customers } from './customers.js';
import { recordCharge } from './ledger.js';
import { createPlaces, planLimit } from './places.js';
import { createCountedRecords } from './records.js';
import { createStorage } from './storage.js';

const mebibyte = 1024 * 1024;

export function createCustomers(collections: Collections): Customers {
  const { customers } = collections;
  const places = createPlaces(collections, createCountedRecords(collections));
  const storage = createStorage(collections);
  const quotaOf = async (organizationId: string) => grantedQuota(await readCustomer(collections, organizationId));
  return {
    quotaOf,
    reserve: async (organizationId, limit, id) => places.reserve(organizationId, limit, id, (await quotaOf(organizationId))[limit]),
    release: places.release,
    async reserveStorage(organizationId, id, bytes) {
      const { storage_space_in_mb } = await quotaOf(organizationId);
      await storage.reserve(organizationId, id, bytes, storage_space_in_mb * mebibyte);
    },
    releaseStorage: storage.release,
    storageUsed: storage.used,
    async refuseBeyond(organizationId, limit, use) {
      const maximum = (await quotaOf(organizationId))[limit];
      if (use > maximum) throw new AppError('plan_limit', `${limit}: the plan allows ${maximum}, this would be ${use}`);
    },
    async requireFeature(organizationId, feature) {
      if (!(await quotaOf(organizationId)).access_controls[feature]) throw new AppError('plan_limit', `${feature}: not part of the plan`);
    },
    async requireCredits(organizationId) {
      const customer = await readCustomer(collections, organizationId);
      const quota = grantedQuota(customer);
      const { subscription_credits, top_up_credits } = quota.number_of_credits;
      const left = creditsLeft(quota, customer.credits_used);
      if (left.subscription_credits + left.top_up_credits >= quota.base_credit_deduction_per_execution) return;
      throw planLimit('number_of_credits', subscription_credits + top_up_credits, customer.credits_used);
    },
    async charge(charge) {
      await readCustomer({ customers }, charge.organizationId);
      await recordCharge(collections, charge);
    },
  };
}

/** The account of an organization; the first time with the default plan. */
export async function readCustomer({ customers }: Pick<Collections, 'customers'>, organizationId: string): Promise<CustomerDocument> {
  return (await customers.findOne({ _id: organizationId })) ?? insertOnce(customers, newCustomer(organizationId, {}));
}

/** Names an account when its organization is founded; one that is there already stays. */
export async function openAccount(
  { customers }: Pick<Collections, 'customers'>,
  organizationId: string,
  who: Pick<CustomerDocument, 'organization_name' | 'user_id' | 'email'>,
): Promise<CustomerDocument> {
  return insertOnce(customers, newCustomer(organizationId, who));
}

/** The operator's change of a plan: what is given replaces what was. */
export async function setPlan({ customers }: Pick<Collections, 'customers'>, organizationId: string, { plan, ...quota }: PlanPatch): Promise<void> {
  await readCustomer({ customers }, organizationId);
  const changes = Object.entries(quota).filter(([, value]) => value !== undefined);
  const fields = changes.flatMap(([name, value]) =>
    name === 'access_controls' ? Object.entries(value as object).map(([each, on]) => [`quota.access_controls.${each}`, on]) : [[`quota.${name}`, value]],
  );
  const $set = { ...Object.fromEntries(fields), ...(plan === undefined ? {} : { plan }), updated_at: epochSeconds() };
  await customers.updateOne({ _id: organizationId }, { $set });
}

function newCustomer(_id: string, who: Partial<Pick<CustomerDocument, 'organization_name' | 'user_id' | 'email'>>): CustomerDocument {
  const at = epochSeconds();
  const named = { organization_name: '', user_id: '', email: '', ...who };
  return { _id, ...named, plan: 'standard', quota: {}, credits_used: 0, models: {}, charged: [], created_at: at, updated_at: at };
}
