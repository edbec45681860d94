import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/mongo.js';
import { epochSeconds } from '../time.js';
import { fieldOfModel, type CreditEntryDocument } from './account.js';
import type { Charge } from './customers.js';

type Stores = Pick<Collections, 'credit_history' | 'customers'>;

/** A charge is repeated at once or not at all, so that these outlive every repeat. */
const remembered = 1000;

/**
 * Writes a charge into the ledger and counts it in the customer's record, each once however often it is asked for and
 * wherever a process dies: the ledger by the key as `_id`, the record by the keys that it remembers.
 */
export async function recordCharge({ credit_history, customers }: Stores, charge: Charge): Promise<void> {
  const entry = await insertOnce(credit_history, entryOf(charge));
  if (entry.applied) return;
  await apply(customers, entry);
  await credit_history.updateOne({ _id: entry._id }, { $set: { applied: true } });
}

async function apply(customers: Stores['customers'], { _id: key, organization_id, credits, model, input_tokens, output_tokens }: CreditEntryDocument) {
  const at = `models.${fieldOfModel(model ?? '')}`;
  const counts = model === null ? {} : { [`${at}.executions`]: 1, [`${at}.input_tokens`]: input_tokens, [`${at}.output_tokens`]: output_tokens };
  await customers.updateOne(
    { _id: organization_id, charged: { $ne: key } },
    { $inc: { credits_used: credits, ...counts }, $push: { charged: { $each: [key], $slice: -remembered } } },
  );
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
