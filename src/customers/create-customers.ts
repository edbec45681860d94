import { AppError } from '../errors.js';
import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/mongo.js';
import { epochSeconds } from '../time.js';
import { creditsLeft, grantedQuota, type CustomerDocument, type PlanPatch } from './account.js';
import type { Customers } from './customers.js';
import { recordCharge, settleCharges } from './ledger.js';
import { createPlaces, planLimit } from './places.js';
import type { Quota } from './plan.js';
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
      const { number_of_credits: granted, base_credit_deduction_per_execution: asked } = grantedQuota(customer);
      const left = sumOf(creditsLeft(customer));
      if (left < asked) throw planLimit('number_of_credits', sumOf(granted), sumOf(granted) - left);
    },
    async charge(charge) {
      await readCustomer({ customers }, charge.organizationId);
      await recordCharge(collections, charge);
    },
    settle: (organizationId) => settleCharges(collections, organizationId),
  };
}

function sumOf({ subscription_credits, top_up_credits }: Quota['number_of_credits']): number {
  return subscription_credits + top_up_credits;
}

/** An account without the keys of its newest charges. */
export type Customer = Omit<CustomerDocument, 'charged'>;

/** The account of an organization; the first time with the default plan. */
export async function readCustomer({ customers }: Pick<Collections, 'customers'>, organizationId: string): Promise<Customer> {
  const present = await customers.findOne({ _id: organizationId }, { projection: { charged: 0 } });
  return present ?? insertOnce(customers, newCustomer(organizationId, {}));
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
export async function setPlan({ customers }: Pick<Collections, 'customers'>, organizationId: string, patch: PlanPatch): Promise<void> {
  const present = await readCustomer({ customers }, organizationId);
  const { plan, number_of_credits: credits, access_controls, ...limits } = patch;
  const $set = {
    ...fieldsOf('quota', limits),
    ...fieldsOf('quota.access_controls', access_controls ?? {}),
    ...(credits && {
      'quota.number_of_credits': { ...creditsLeft(present), ...credits },
      // What is charged from now on, this moment's charges included, is taken from the new ones.
      credits_used_before: present.credits_used,
    }),
    ...(plan !== undefined && { plan }),
    updated_at: epochSeconds(),
  };
  await customers.updateOne({ _id: organizationId }, { $set });
}

function fieldsOf(path: string, given: object): Record<string, unknown> {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [`${path}.${name}`, value]));
}

function newCustomer(_id: string, who: Partial<Pick<CustomerDocument, 'organization_name' | 'user_id' | 'email'>>): CustomerDocument {
  const at = epochSeconds();
  const named = { organization_name: '', user_id: '', email: '', ...who };
  return { _id, ...named, plan: 'standard', quota: {}, credits_used: 0, credits_used_before: 0, models: {}, charged: [], created_at: at, updated_at: at };
}
