import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/mongo.js';
import { epochSeconds } from '../time.js';
import { fieldOfModel, type CreditEntryDocument } from './account.js';
import type { Charge } from './customers.js';

type Stores = Pick<Collections, 'credit_history' | 'customers'>;

/** So many keys are kept in the customer's record, and at most twice as many. */
const remembered = 100;

/**
 * Writes a charge into the ledger and counts it in the customer's record, each once however often it is asked for and
 * wherever a process dies: the ledger by the key as `_id`, the record by the keys that it remembers.
 */
export async function recordCharge(stores: Stores, charge: Charge): Promise<void> {
  const entry = await insertOnce(stores.credit_history, entryOf(charge));
  if (!entry.applied) await apply(stores, entry);
}

/** Counts what a process that died has written into the ledger only. */
export async function settleCharges(stores: Stores, organizationId: string): Promise<void> {
  const open = await stores.credit_history.find({ organization_id: organizationId, applied: false }).toArray();
  for (const entry of open) await apply(stores, entry);
}

async function apply({ customers, credit_history }: Stores, entry: CreditEntryDocument): Promise<void> {
  const { _id: key, organization_id: _id, credits, model, input_tokens, output_tokens } = entry;
  const at = `models.${fieldOfModel(model ?? '')}`;
  const counts = model === null ? {} : { [`${at}.executions`]: 1, [`${at}.input_tokens`]: input_tokens, [`${at}.output_tokens`]: output_tokens };
  const counted = await customers.findOneAndUpdate(
    { _id, charged: { $ne: key } },
    { $inc: { credits_used: credits, ...counts }, $push: { charged: key } },
    { returnDocument: 'after', projection: { charged: 1 } },
  );
  await credit_history.updateOne({ _id: key }, { $set: { applied: true } });
  if (counted && counted.charged.length > 2 * remembered) await forget({ customers, credit_history }, _id, counted.charged.slice(0, -remembered));
}

/** A key in the record proves that its charge was counted; only when the ledger says so too is it forgotten. */
async function forget({ customers, credit_history }: Stores, _id: string, keys: string[]): Promise<void> {
  await credit_history.updateMany({ _id: { $in: keys } }, { $set: { applied: true } });
  await customers.updateOne({ _id }, { $pull: { charged: { $in: keys } } });
}

function entryOf(charge: Charge): CreditEntryDocument {
  return {
    _id: charge.key,
    organization_id: charge.organizationId,
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
