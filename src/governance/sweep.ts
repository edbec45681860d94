import { executeStage } from './kernel/stage-ids.js';
import type { Logger } from '../log.js';
import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/insert-once.js';
import { epochSeconds } from '../base/time.js';
import type { Approvals } from './approvals/create-approvals.js';
import type { Audit } from './audit/audit.js';
import { forEachDue } from './for-each-due.js';
import { ActRecord, type LifecycleDocument } from './lifecycles/record.js';
import type { IntentDocument } from './recorder.js';
import { pick } from '../base/pick.js';

interface SweepDeps {
  collections: Pick<Collections, 'intents' | 'lifecycles'>;
  audit: Pick<Audit, 'append' | 'entrySince'>;
  approvals: Pick<Approvals, 'settle' | 'usedBy'>;
  log: Pick<Logger, 'warn'>;
}

/** The prefix of the resource of an act. */
const ofAct = 'act:';
const unknownOutcome = 'the process ended before it recorded the outcome: the call may have taken effect';

/**
 * Ends the calls whose process died after it had stored the intent: writes their lifecycle and audit entry, and releases
 * their resume token. Every step is safe to repeat.
 */
export async function sweepIntents(deps: SweepDeps, now = Date.now()): Promise<void> {
  const { intents } = deps.collections;
  const due = { leased_until: { $lt: new Date(now) } };
  const toStored = (seconds: number) => new Date(seconds * 1000);
  const lease = { at: 'leased_until', toStored, log: deps.log, now: now / 1000 };
  await forEachDue({ collection: intents, due, ...lease }, async (intent) => {
    await endCall(deps, intent);
    await intents.deleteOne({ _id: intent._id });
  });
}

async function endCall({ collections, audit, approvals }: SweepDeps, intent: IntentDocument): Promise<void> {
  const { _id: lifecycle_id, organization_id, actor, tool: action, resource, created_at } = intent;
  const entry = await audit.entrySince(organization_id, { lifecycle_id, since: created_at });
  const lifecycle = await insertOnce(collections.lifecycles, lifecycleOf(intent, entry?.outcome));
  const { status, act } = lifecycle;
  if (!entry) {
    const isUnknown = lifecycle.stages.some(({ detail }) => detail === unknownOutcome);
    const known = act ? `${status}: ${act.outcome}` : status;
    const outcome = isUnknown && !act ? 'failed: outcome unknown' : known;
    await audit.append({ organization_id, actor, action, resource, outcome, lifecycle_id });
  }
  // The run of an act decides itself what becomes of its approval, because the act may have taken effect.
  const approvalId = act ? undefined : await approvals.usedBy(lifecycle_id);
  if (approvalId !== undefined)
    await approvals.settle({ approvalId, lifecycleId: lifecycle_id, completed: status === 'completed' });
}

/** `audited` is the outcome in the audit entry, as `governedRecord` writes it. */
function lifecycleOf(intent: IntentDocument, audited: string | undefined): LifecycleDocument {
  const [recorded, outcome] = audited?.split(': ') ?? [];
  const status = recorded === 'completed' || recorded === 'denied' ? recorded : 'failed';
  const detail = status === 'failed' ? unknownOutcome : '';
  const known = ActRecord.shape.outcome.safeParse(outcome).data;
  return {
    ...pick(intent, '_id', 'tool', 'principal', 'project_id', 'organization_id', 'trace_id', 'created_at'),
    status,
    stages: [{ stage: executeStage, status: status === 'completed' ? 'ok' : 'failed', detail }],
    ended_at: epochSeconds(),
    payload_digest: null,
    consumed: [],
    ...(intent.resource.startsWith(ofAct) && {
      act: { idempotency_key: intent.resource.slice(ofAct.length), outcome: known ?? 'unknown' },
    }),
  };
}
