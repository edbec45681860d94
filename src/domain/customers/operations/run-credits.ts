import { LRUCache } from 'lru-cache';
import type { Collections } from '../../../stores/collections.js';
import { grantedQuota } from '../record.js';
import { readCustomer } from './account.js';

/** What runs were charged. A charge never changes, and the acts of a run ask again and again. */
const charged = new LRUCache<string, number>({ max: 5000 });

/**
 * The credits that a run has cost so far. A run is charged once, when it begins, under its own id; model turns cost none. The
 * charge is written up to a second later, and until then it is what the plan says.
 */
export async function creditsOfRun(
  stores: Pick<Collections, 'credit_history' | 'customers'>,
  { organization_id, execution_id }: { organization_id: string; execution_id: string },
): Promise<number> {
  const known = charged.get(execution_id);
  if (known !== undefined) return known;
  const charge = await stores.credit_history.findOne({ _id: execution_id }, { projection: { credits: 1 } });
  if (charge) {
    charged.set(execution_id, charge.credits);
    return charge.credits;
  }
  return grantedQuota(await readCustomer(stores, organization_id)).base_credit_deduction_per_execution;
}
