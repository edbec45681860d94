import type { Collections } from '../../../stores/collections.js';
import { createFreshReads } from '../../../stores/fresh-reads.js';
import { perCollection } from '../../../stores/group.js';
import { insertOnce } from '../../../stores/insert-once.js';
import { epochSeconds } from '../../../base/time.js';
import { creditsLeft, type CustomerDocument, type PlanPatch } from '../record.js';

type Accounts = Pick<Collections, 'customers'>;

/** An account without its recent charge keys. */
type Customer = Omit<CustomerDocument, 'charged'>;

const readsOf = perCollection((customers: Accounts['customers']) => createFreshReads(customers, { charged: 0 }));

/** The account of an organization. Creates it with the default plan if it does not exist. */
export async function readCustomer({ customers }: Accounts, organizationId: string): Promise<Customer> {
  return (await readsOf(customers)(organizationId)) ?? openAccount({ customers }, organizationId);
}

/** Creates an account with the default plan, or returns the existing one. */
export async function openAccount(
  { customers }: Accounts,
  organizationId: string,
  who: Pick<CustomerDocument, 'organization_name' | 'user_id' | 'email'> = noOwner,
): Promise<CustomerDocument> {
  const at = epochSeconds();
  const use = { credits_used: 0, credits_used_before: 0, models: {}, charged: [] };
  return insertOnce(customers, {
    _id: organizationId,
    ...who,
    plan: 'standard',
    quota: {},
    ...use,
    created_at: at,
    updated_at: at,
  });
}

const noOwner = { organization_name: '', user_id: '', email: '' };

/** Applies an operator's change of a plan. Given fields replace the previous values. */
export async function setPlan({ customers }: Accounts, organizationId: string, patch: PlanPatch): Promise<void> {
  const present = await readCustomer({ customers }, organizationId);
  const { plan, runs_without_role, number_of_credits: credits, access_controls, ...limits } = patch;
  const $set = {
    ...fieldsOf('quota', limits),
    ...fieldsOf('quota.access_controls', access_controls ?? {}),
    ...(credits && {
      'quota.number_of_credits': { ...creditsLeft(present), ...credits },
      // Later charges, including concurrent ones, are deducted from the new credits.
      credits_used_before: present.credits_used,
    }),
    ...(plan !== undefined && { plan }),
    ...(runs_without_role !== undefined && { runs_without_role }),
    updated_at: epochSeconds(),
  };
  await customers.updateOne({ _id: organizationId }, { $set });
}

function fieldsOf(path: string, values: object): Record<string, unknown> {
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [`${path}.${name}`, value]));
}
