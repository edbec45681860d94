import { AppError } from '../errors.js';
import type { Customers } from './customers.js';
import { defaultQuota } from './plan.js';

/** The default plan for everybody. */
export function createCustomers(): Customers {
  return {
    quotaOf: async () => defaultQuota,
    reserve: async () => undefined,
    release: async () => undefined,
    reserveStorage: async () => undefined,
    releaseStorage: async () => undefined,
    async refuseBeyond(_organizationId, limit, use) {
      const maximum = defaultQuota[limit];
      if (use > maximum) throw new AppError('plan_limit', `${limit}: at most ${maximum}, asked for ${use}`);
    },
    requireFeature: async () => undefined,
    requireCredits: async () => undefined,
    charge: async () => undefined,
  };
}
