import type { Collections } from '../stores/collections.js';
import { isOnlyDuplicates } from '../stores/mongo.js';
import { epochSeconds } from '../time.js';
import { openAccount } from './account-store.js';
import { fieldOfModel, type CreditEntryDocument, type CustomerDocument } from './account.js';
import type { Charge } from './customers.js';

type Stores = Pick<Collections, 'credit_history' | 'customers'>;
type Account = Pick<CustomerDocument, '_id' | 'charged' | 'forgotten'>;

/** So many keys are kept in the customer's record, and at most twice as many beside those that are counted at once. */
const remembered = 100;

/**
 * Writes charges into the ledger and counts them in the customer's record, each once however often it is asked for and
 * wherever a process dies: the ledger by the key as `_id`, the record by the keys that it remembers. Three writes,
 * however many charges.
 */
export async function recordCharges(stores: Stores, organizationId: string, charges: readonly Charge[]): Promise<void> {
  if (charges.length === 0) return;
  const account = await readAccount(stores, organizationId);
  const entries = charges.map((charge) => entryOf(organizationId, charge));
  const areNew = await insertMissing(stores, entries);
  if (!areNew || !(await count(stores, account, entries))) await countOpen(stores, organizationId, entries.map(({ _id }) => _id));
}

/** Counts what a process that died has written into the ledger only. One by one, as others are counting theirs meanwhile. */
export async function settleCharges(stores: Stores, organizationId: string): Promise<void> {
  const open = await stores.credit_history.find({ organization_id: organizationId, applied: false }, { projection: { _id: 1 } }).toArray();
  for (const { _id } of open) await countOpen(stores, organizationId, [_id]);
}

async function readAccount({ customers }: Stores, organizationId: string): Promise<Account> {
  const account = await customers.findOne({ _id: organizationId }, { projection: { charged: 1, forgotten: 1 } });
  return account ?? openAccount({ customers }, organizationId);
}

/** False when one of them was there already. */
async function insertMissing({ credit_history }: Stores, entries: CreditEntryDocument[]): Promise<boolean> {
  try {
    await credit_history.insertMany(entries, { ordered: false });
    return true;
  } catch (error) {
    if (isOnlyDuplicates(error)) return false;
    throw error;
  }
}

async function countOpen(stores: Stores, organizationId: string, keys: readonly string[]): Promise<void> {
  for (;;) {
    // The account first: a key that is forgotten after this look is told by `forgotten`, one before it by its entry.
    const account = await readAccount(stores, organizationId);
    const entries = await Promise.all(keys.map((_id) => stores.credit_history.findOne({ _id })));
    if (await count(stores, account, entries.flatMap((entry) => (entry?.applied === false ? [entry] : [])))) return;
  }
}

/**
 * Counts entries that were open after `account` was read. False, and nothing done, when somebody has counted one of them
 * since, or keys were forgotten, of which one may be theirs.
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
  await markApplied(stores, open.map((entry) => entry._id));
  if (charged.length + keys.length > 2 * remembered) await forget(stores, account, [...charged, ...keys].slice(0, -remembered));
  return true;
}

/** A key in the record proves that its charge was counted; only when the ledger says so too is it forgotten. */
async function forget(stores: Stores, { _id, forgotten }: Account, keys: readonly string[]): Promise<void> {
  await markApplied(stores, keys);
  await stores.customers.updateOne({ _id, forgotten: forgotten ?? { $exists: false } }, { $pull: { charged: { $in: [...keys] } }, $inc: { forgotten: 1 } });
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

function entryOf(organizationId: string, charge: Charge): CreditEntryDocument {
  return {
    _id: charge.key,
    organization_id: organizationId,
    project_id: charge.projectId,
    execution_id: charge.executionId,
    agentflow_id: charge.agentflowId,
    kind: charge.turns === null ? 'execution' : 'model_turn',
    credits: charge.credits,
    model: charge.turns?.model ?? null,
    input_tokens: charge.turns?.input_tokens ?? 0,
    output_tokens: charge.turns?.output_tokens ?? 0,
    at: epochSeconds(),
    applied: false,
  };
}
