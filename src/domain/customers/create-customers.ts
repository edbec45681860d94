import { AppError } from '../../base/errors.js';
import type { Collections } from '../../stores/collections.js';
import { readCustomer } from './operations/account.js';
import { creditsLeft, grantedQuota, type Customers } from './record.js';
import { createCreditPlaces } from './credit-places.js';
import { createLedger, settleCharges } from './ledger.js';
import { createReservations } from './reservations.js';
import { planLimit, type Quota } from './rules.js';
import { createCountedRecords } from './records.js';
import { createStorage } from './storage.js';

const mebibyte = 1024 * 1024;

export function createCustomers(collections: Collections): Customers {
  const reservations = createReservations(collections, createCountedRecords(collections));
  const storage = createStorage(collections);
  const creditsOf = async (organizationId: string) => {
    const customer = await readCustomer(collections, organizationId);
    const { number_of_credits: granted, base_credit_deduction_per_execution: asked } = grantedQuota(customer);
    return { granted: sumOf(granted), asked, left: sumOf(creditsLeft(customer)) };
  };
  const creditPlaces = createCreditPlaces(collections, async (organizationId) => {
    const { asked, left } = await creditsOf(organizationId);
    if (asked === 0) return left < 0 ? 0 : Infinity;
    // Fractions of credits are exact to six digits.
    return Math.max(0, Math.floor(left / asked + 1e-6));
  });
  const quotaOf = async (organizationId: string) => grantedQuota(await readCustomer(collections, organizationId));
  return {
    quotaOf,
    reserve: async (organizationId, limit, id) =>
      reservations.reserve(organizationId, limit, id, (await quotaOf(organizationId))[limit]),
    release: reservations.release,
    async reserveStorage(organizationId, id, bytes) {
      const { storage_space_in_mb } = await quotaOf(organizationId);
      await storage.reserve(organizationId, id, bytes, storage_space_in_mb * mebibyte);
    },
    releaseStorage: storage.release,
    storageUsed: storage.used,
    async refuseBeyond(organizationId, limit, use) {
      const maximum = (await quotaOf(organizationId))[limit];
      if (use > maximum)
        throw new AppError('plan_limit', `${limit}: the plan allows ${maximum}, but ${use} were requested`);
    },
    async requireFeature(organizationId, feature) {
      if (!(await quotaOf(organizationId)).access_controls[feature])
        throw new AppError('plan_limit', `${feature}: the plan does not include this feature`);
    },
    async requireCredits(organizationId) {
      const { granted, asked, left } = await creditsOf(organizationId);
      if (left < asked) throw planLimit('number_of_credits', granted, granted - left);
    },
    async reserveCredits(organizationId, use) {
      if (await creditPlaces.reserve(organizationId, use)) return;
      const { granted, asked, left } = await creditsOf(organizationId);
      if (left < asked) throw planLimit('number_of_credits', granted, granted - left);
      throw new AppError('plan_limit', `number_of_credits: ${left} are left, and runs that have begun need them`);
    },
    releaseCredits: creditPlaces.release,
    charge: createLedger(collections),
    settle: (organizationId) => settleCharges(collections, organizationId),
  };
}

function sumOf({ subscription_credits, top_up_credits }: Quota['number_of_credits']): number {
  return subscription_credits + top_up_credits;
}
