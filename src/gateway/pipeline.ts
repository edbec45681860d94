import { AppError, isAppError, type StageId } from '../errors.js';
import { newId } from '../ids.js';
import type { ReceivedCall, ScopedCall, StageRecord } from './call.js';
import { approve } from './stages/approval.js';
import { authenticate } from './stages/authenticate.js';
import { dryRun } from './stages/dry-run.js';
import { execute } from './stages/execute.js';
import { decide } from './stages/policy.js';
import { admit } from './stages/rate-quota.js';
import { resolveScope } from './stages/resolve-scope.js';
import { validateInput } from './stages/validate-input.js';
import type { GatewayDeps } from './gateway-deps.js';
import { createRecord, type CallOutcome, type CallRecord } from './record.js';

export interface ToolAnswer {
  status: 200 | 202;
  body: Record<string, unknown>;
}

export type Pipeline = (call: ReceivedCall) => Promise<ToolAnswer>;

/**
 * The governed pipeline: every tool, by REST or MCP, runs these stages in this order (specification, Governed pipeline).
 * What the call did is stored before its answer leaves.
 * @throws AppError whose code is the refusing stage's id, or the code of what `S8:execute` met; with the lifecycle id
 */
export function createPipeline(deps: GatewayDeps): Pipeline {
  return async (received) => {
    const record = createRecord(newId(), received);
    try {
      const principal = await record.at('S1:authenticate', () => authenticate(deps, received));
      const scoped = await record.at('S2:resolve-scope', () => resolveScope(deps, received, principal, record.lifecycleId));
      record.scope(scoped);
      await record.at('S3:rate-quota', () => admit(deps, scoped));
      const call = await record.at('S4:validate-input', () => validateInput(scoped));
      record.validated(call);
      const decision = await record.at('S5:policy', () => decide(deps, call));
      record.decided(decision);
      const approval = await record.at('S6:approval', () => approve(deps, call, decision));
      if (approval.pending) return await finish(deps, record, 'pending_approval', { status: 202, body: approval.body });
      if (call.dryRun) {
        const plan = await record.at('S7:dry-run', () => dryRun(call));
        return await finish(deps, record, 'dry_run', { status: 200, body: plan });
      }
      record.skip('S7:dry-run', 'not asked');
      const { body, consumed } = await record.at('S8:execute', () => execute(call));
      record.consumed(consumed);
      return await finish(deps, record, 'completed', { status: 200, body });
    } catch (error) {
      throw await refuse(deps, record, error);
    }
  };
}

async function finish(deps: GatewayDeps, record: CallRecord, outcome: CallOutcome, answer: ToolAnswer): Promise<ToolAnswer> {
  await record.store(deps.recorder, outcome);
  return { ...answer, body: { ...answer.body, lifecycle_id: record.lifecycleId } };
}

/** A refusal is stored like an answer. Without a scope (401, or a project that is not the caller's) nobody could read it. */
async function refuse(deps: GatewayDeps, record: CallRecord, error: unknown): Promise<unknown> {
  if (record.stored) return error;
  const refusal = isAppError(error) ? error : undefined;
  const denied = refusal !== undefined && refusal.status < 500;
  if (!record.scoped) return error;
  await record.store(deps.recorder, denied ? 'denied' : 'failed');
  if (!refusal) return error;
  const { code, message, status, headers } = refusal;
  return new AppError(code, message, { status, headers, lifecycleId: record.lifecycleId, cause: error });
}

export type { ScopedCall, StageRecord, StageId };
