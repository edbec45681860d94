import type { Principal } from '../auth/principal.js';
import { isAppError, type StageId } from '../errors.js';
import type { GovernedRecord, Recorder } from '../governance/recorder.js';
import type { PolicyEvaluation } from '../governance/policy/decision.js';
import { newId } from '../ids.js';
import type { ObserveStage } from '../observability/stages.js';
import { epochSeconds } from '../time.js';
import type { ReceivedCall, StageRecord, ValidatedCall } from './call.js';

export type CallOutcome = GovernedRecord['lifecycle']['status'];

/** What a call did, gathered stage by stage and stored once, before the answer leaves. */
export class CallRecord {
  readonly lifecycleId = newId();
  readonly startedAt = epochSeconds();
  readonly stages: StageRecord[] = [];
  /** A call whose project is known has a lifecycle; a 401 has none. */
  principal: Principal | undefined;
  call: ValidatedCall | undefined;
  decision: PolicyEvaluation | undefined;
  approvalId: string | undefined;
  consumed: readonly string[] = [];
  /** Why a resume token was refused: for the audit chain, never for the caller. */
  refusedBecause: string | undefined;

  constructor(
    readonly received: ReceivedCall,
    private readonly observe: ObserveStage,
  ) {}

  /** Runs a stage and notes how it ended; the first failed one is the refusal. */
  async at<T>(stage: StageId, work: () => Promise<T>): Promise<T> {
    try {
      const result = await this.observe(this.received.tool.name, stage, work);
      this.stages.push({ stage, status: 'ok', detail: '' });
      return result;
    } catch (error) {
      this.stages.push({ stage, status: 'failed', detail: isAppError(error) ? error.message : 'failed' });
      throw error;
    }
  }

  skip(stage: StageId, why: string): void {
    this.stages.push({ stage, status: 'ok', detail: why });
  }

  async store(recorder: Recorder, outcome: CallOutcome): Promise<void> {
    if (this.principal) await recorder.record(governedRecord(this, this.principal, outcome));
  }
}

function governedRecord(record: CallRecord, principal: Principal, outcome: CallOutcome): GovernedRecord {
  const { lifecycleId, received, call, decision, approvalId, refusedBecause } = record;
  const { projectId: project_id, organizationId: organization_id } = principal;
  const at = epochSeconds();
  const decisionId = decision && newId();
  return {
    lifecycle: {
      _id: lifecycleId,
      tool: received.tool.name,
      status: outcome,
      stages: record.stages,
      principal: callerOf(principal),
      project_id,
      organization_id,
      trace_id: received.trace.traceId,
      created_at: record.startedAt,
      ended_at: at,
      payload_digest: call?.payloadDigest ?? null,
      consumed: [...record.consumed],
      ...(approvalId !== undefined && { approval_id: approvalId }),
      ...(decisionId !== undefined && { decision_id: decisionId }),
    },
    ...(decision && decisionId !== undefined && { decision: decisionDocument(decision, decisionId, { lifecycle_id: lifecycleId, project_id, organization_id, at }) }),
    audit: {
      organization_id,
      at,
      actor: actorOf(principal),
      action: received.tool.name,
      resource: call ? `${call.resource.type}:${call.resource.id}` : `project:${project_id}`,
      outcome: refusedBecause === undefined ? outcome : `${outcome}: ${refusedBecause}`,
      lifecycle_id: lifecycleId,
    },
  };
}

type DecisionPlace = Pick<NonNullable<GovernedRecord['decision']>, 'lifecycle_id' | 'project_id' | 'organization_id' | 'at'>;

function decisionDocument({ decision, policy_ids, policy_version }: PolicyEvaluation, _id: string, place: DecisionPlace) {
  return { _id, ...place, decision, policy_ids, policy_version };
}

function callerOf({ userId, kind, keyId, clientId, executionId }: Principal) {
  return {
    user_id: userId,
    kind,
    ...(keyId === undefined ? {} : { key_id: keyId }),
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(executionId === undefined ? {} : { execution_id: executionId }),
  };
}

/** Whose call it was, and by what: a key, an OAuth client, or a run. */
function actorOf({ userId, kind, keyId, clientId, executionId }: Principal): string {
  const by = keyId ?? clientId ?? executionId;
  return by === undefined ? `${kind}:${userId}` : `${kind}:${userId}:${by}`;
}
