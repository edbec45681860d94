import type { Principal } from '../auth/principal.js';
import { isAppError, type StageId } from '../errors.js';
import type { GovernedRecord, Recorder } from '../governance/recorder.js';
import type { PolicyDecision } from '../governance/policy/evaluate.js';
import { newId } from '../ids.js';
import { epochSeconds } from '../time.js';
import type { ReceivedCall, ScopedCall, StageRecord, ValidatedCall } from './call.js';

export type CallOutcome = GovernedRecord['lifecycle']['status'];

/** What a call did, gathered stage by stage and stored once, before the answer leaves. */
export interface CallRecord {
  readonly lifecycleId: string;
  /** A call whose project is known has a lifecycle; a 401 has none. */
  readonly scoped: boolean;
  /** Runs a stage and notes how it ended; the first failed one is the refusal. */
  at<T>(stage: StageId, work: () => Promise<T>): Promise<T>;
  skip(stage: StageId, why: string): void;
  authenticated(principal: Principal): void;
  scope(call: ScopedCall): void;
  validated(call: ValidatedCall): void;
  decided(decision: PolicyDecision): void;
  approval(approvalId: string): void;
  /** Why a resume token was refused: for the audit chain, never for the caller. */
  refusedBecause(reason: string): void;
  consumed(ids: readonly string[]): void;
  store(recorder: Recorder, outcome: CallOutcome): Promise<void>;
}

export function createRecord(received: ReceivedCall): CallRecord {
  const lifecycleId = newId();
  const startedAt = epochSeconds();
  const stages: StageRecord[] = [];
  let principal: Principal | undefined;
  let call: ValidatedCall | undefined;
  let decision: PolicyDecision | undefined;
  let approvalId: string | undefined;
  let because: string | undefined;
  let consumed: readonly string[] = [];

  return {
    lifecycleId,
    get scoped() {
      return principal !== undefined;
    },
    async at(stage, work) {
      try {
        const result = await work();
        stages.push({ stage, status: 'ok', detail: '' });
        return result;
      } catch (error) {
        stages.push({ stage, status: 'failed', detail: isAppError(error) ? error.message : 'failed' });
        throw error;
      }
    },
    skip: (stage, why) => void stages.push({ stage, status: 'ok', detail: why }),
    authenticated: (who) => void (principal = who),
    scope: (scoped) => void (principal = scoped.principal),
    validated: (valid) => void (call = valid),
    decided: (made) => void (decision = made),
    approval: (id) => void (approvalId = id),
    refusedBecause: (reason) => void (because = reason),
    consumed: (ids) => void (consumed = ids),
    async store(recorder, outcome) {
      if (!principal) return;
      const at = epochSeconds();
      const decisionId = decision && newId();
      const { projectId, organizationId } = principal;
      await recorder.record({
        lifecycle: {
          _id: lifecycleId,
          tool: received.tool.name,
          status: outcome,
          stages,
          principal: callerOf(principal),
          project_id: projectId,
          organization_id: organizationId,
          trace_id: received.trace.traceId,
          created_at: startedAt,
          ended_at: at,
          payload_digest: call?.payloadDigest ?? null,
          consumed: [...consumed],
          ...(approvalId === undefined ? {} : { approval_id: approvalId }),
          ...(decisionId === undefined ? {} : { decision_id: decisionId }),
        },
        ...(decision && decisionId
          ? {
              decision: {
                _id: decisionId,
                lifecycle_id: lifecycleId,
                project_id: projectId,
                organization_id: organizationId,
                decision: decision.decision,
                policy_ids: decision.policy_ids,
                policy_version: decision.policy_version,
                at,
              },
            }
          : {}),
        audit: {
          organization_id: organizationId,
          at,
          actor: actorOf(principal),
          action: received.tool.name,
          resource: call ? `${call.resource.type}:${call.resource.id}` : `project:${projectId}`,
          outcome: because === undefined ? outcome : `${outcome}: ${because}`,
          lifecycle_id: lifecycleId,
        },
      });
    },
  };
}

function callerOf({ userId, kind, keyId, clientId }: Principal) {
  return { user_id: userId, kind, ...(keyId === undefined ? {} : { key_id: keyId }), ...(clientId === undefined ? {} : { client_id: clientId }) };
}

function actorOf({ userId, kind, keyId }: Principal): string {
  return keyId === undefined ? `${kind}:${userId}` : `${kind}:${userId}:${keyId}`;
}
