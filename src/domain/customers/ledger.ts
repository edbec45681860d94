import { LRUCache } from 'lru-cache';
import type { Collections } from '../../stores/collections.js';
import { createGroup, type Group } from '../../stores/group.js';
import { isOnlyDuplicates } from '../../stores/mongo.js';
import { epochSeconds } from '../../base/time.js';
import { openAccount } from './operations/account.js';
import {
  fieldOfModel,
  grantedQuota,
  type CreditEntryDocument,
  type Charge,
  type CustomerDocument,
  type Customers,
} from './record.js';

type Stores = Pick<Collections, 'credit_history' | 'customers'>;
type Account = Pick<CustomerDocument, '_id' | 'quota' | 'charged' | 'forgotten'>;

/** How many recent charge keys the customer's record keeps. It is trimmed when it has twice as many. */
const keptKeys = 100;

/** Charges that arrive during a write for the same organization share the next one. */
export function createLedger(stores: Stores): Customers['charge'] {
  const groups = new LRUCache<string, Group<readonly Charge[], void>>({
    max: 1000,
    memoMethod: (organizationId) =>
      createGroup(async (batch) => {
        await recordCharges(
          stores,
          organizationId,
          batch.flatMap(({ item }) => item),
        );
        for (const { resolve } of batch) resolve();
      }),
  });
  return (organizationId, charges) => groups.memo(organizationId).add(charges);
}

/**
 * Writes charges to the ledger and adds them to the customer's record. Each charge counts once, even after repeats and
 * crashes: its key is the `_id` in the ledger, and the customer's record keeps recent keys. It takes three writes for any
 * number of charges.
 */
async function recordCharges(stores: Stores, organizationId: string, charges: readonly Charge[]): Promise<void> {
  if (charges.length === 0) return;
  const account = await readAccount(stores, organizationId);
  // A repeat may be in the same group.
  const byKey = new Map(charges.map((charge) => [charge.key, charge]));
  const entries = [...byKey.values()].map((charge) => toEntry(account, charge));
  const areNew = await insertMissing(stores, entries);
  if (!areNew || !(await count(stores, account, entries)))
    await applyUnapplied(
      stores,
      organizationId,
      entries.map(({ _id }) => _id),
    );
}

/** Counts the charges that a crashed process wrote to the ledger only. One at a time, because other processes may be counting theirs. */
export async function settleCharges(stores: Stores, organizationId: string): Promise<void> {
  const open = await stores.credit_history
    .find({ organization_id: organizationId, applied: false }, { projection: { _id: 1 } })
    .toArray();
  for (const { _id } of open) await applyUnapplied(stores, organizationId, [_id]);
}

async function readAccount({ customers }: Stores, organizationId: string): Promise<Account> {
  const account = await customers.findOne(
    { _id: organizationId },
    { projection: { quota: 1, charged: 1, forgotten: 1 } },
  );
  return account ?? openAccount({ customers }, organizationId);
}

/** @returns false if at least one entry already existed */
async function insertMissing({ credit_history }: Stores, entries: CreditEntryDocument[]): Promise<boolean> {
  try {
    await credit_history.insertMany(entries, { ordered: false });
    return true;
  } catch (error) {
    if (isOnlyDuplicates(error)) return false;
    throw error;
  }
}

async function applyUnapplied(stores: Stores, organizationId: string, keys: readonly string[]): Promise<void> {
  for (;;) {
    // Read the account first: `forgotten` reveals keys removed after this read, and the entry itself those removed before.
    const account = await readAccount(stores, organizationId);
    const entries = await Promise.all(keys.map((_id) => stores.credit_history.findOne({ _id })));
    if (
      await count(
        stores,
        account,
        entries.flatMap((entry) => (entry?.applied === false ? [entry] : [])),
      )
    )
      return;
  }
}

/**
 * Counts entries that were not yet applied after `account` was read. Returns false without effect if another process has
 * counted one of them or removed keys in the meantime.
 */
async function count(stores: Stores, account: Account, open: readonly CreditEntryDocument[]): Promise<boolean> {
  const { _id, charged, forgotten } = account;
  const uncounted = open.filter((entry) => !charged.includes(entry._id));
  const keys = uncounted.map((entry) => entry._id);
  if (keys.length > 0) {
    const { matchedCount } = await stores.customers.updateOne(
      { _id, charged: { $nin: keys }, forgotten: forgotten ?? { $exists: false } },
      { $inc: sumsOf(uncounted), $push: { charged: { $each: keys } } },
    );
    if (matchedCount === 0) return false;
  }
  await markApplied(
    stores,
    open.map((entry) => entry._id),
  );
  if (charged.length + keys.length > 2 * keptKeys)
    await forget(stores, account, [...charged, ...keys].slice(0, -keptKeys));
  return true;
}

/** Removes keys from the customer's record after marking their charges as applied in the ledger. */
async function forget(stores: Stores, { _id, forgotten }: Account, keys: readonly string[]): Promise<void> {
  await markApplied(stores, keys);
  await stores.customers.updateOne(
    { _id, forgotten: forgotten ?? { $exists: false } },
    { $pull: { charged: { $in: [...keys] } }, $inc: { forgotten: 1 } },
  );
}

async function markApplied({ credit_history }: Stores, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const marks = keys.map((_id) => ({ updateOne: { filter: { _id }, update: { $set: { applied: true } } } }));
  await credit_history.bulkWrite(marks, { ordered: false });
}

function sumsOf(entries: readonly CreditEntryDocument[]): Record<string, number> {
  const sums: Record<string, number> = {};
  const add = (field: string, by: number) => (sums[field] = (sums[field] ?? 0) + by);
  for (const { credits, model, input_tokens, output_tokens } of entries) {
    add('credits_used', credits);
    if (model === null) continue;
    const of = `models.${fieldOfModel(model)}`;
    add(`${of}.executions`, 1);
    add(`${of}.input_tokens`, input_tokens);
    add(`${of}.output_tokens`, output_tokens);
  }
  return sums;
}

function toEntry(account: Account, charge: Charge): CreditEntryDocument {
  return {
    _id: charge.key,
    organization_id: account._id,
    project_id: charge.projectId,
    execution_id: charge.executionId,
    agentflow_id: charge.agentflowId,
    kind: charge.turns === null ? 'execution' : 'model_turn',
    credits: charge.credits === 'base' ? grantedQuota(account).base_credit_deduction_per_execution : charge.credits,
    model: charge.turns?.model ?? null,
    input_tokens: charge.turns?.input_tokens ?? 0,
    output_tokens: charge.turns?.output_tokens ?? 0,
    at: epochSeconds(),
    applied: false,
  };
}
