import { LRUCache } from 'lru-cache';
import type { Collections } from '../../../stores/collections.js';
import { grantedQuota } from '../record.js';
import { readCustomer } from './account.js';

/** The charges of runs. A charge never changes, and each act of a run needs it. */
const charged = new LRUCache<string, number>({ max: 5000 });

/** The charge of a run, made once when it begins. Model turns cost nothing. Null until the charge is written. */
export async function chargeOf(
  { credit_history }: Pick<Collections, 'credit_history'>,
  execution_id: string,
): Promise<number | null> {
  const known = charged.get(execution_id);
  if (known !== undefined) return known;
  const charge = await credit_history.findOne({ _id: execution_id }, { projection: { credits: 1 } });
  if (charge) charged.set(execution_id, charge.credits);
  return charge?.credits ?? null;
}

/** The deduction of the plan, for a second: a run that has just begun is not charged yet, and each of its acts needs it. */
const expected = new LRUCache<string, number>({ max: 5000, ttl: 1000 });

/** The credits that a run has cost so far; until its charge is written, the deduction of the plan. */
export async function creditsOfRun(
  stores: Pick<Collections, 'credit_history' | 'customers'>,
  { organization_id, execution_id }: { organization_id: string; execution_id: string },
): Promise<number> {
  const recent = expected.get(execution_id);
  if (recent !== undefined) return recent;
  const charge = await chargeOf(stores, execution_id);
  if (charge !== null) return charge;
  const deduction = grantedQuota(await readCustomer(stores, organization_id)).base_credit_deduction_per_execution;
  expected.set(execution_id, deduction);
  return deduction;
}
