import { AppError, isAppError } from '../errors.js';
import type { ReceivedCall } from './call.js';
import type { GatewayDeps } from './gateway-deps.js';
import { CallRecord, type CallOutcome } from './record.js';
import { approve } from './stages/approval.js';
import { authenticate } from './stages/authenticate.js';
import { dryRun } from './stages/dry-run.js';
import { execute } from './stages/execute.js';
import { decide } from './stages/policy.js';
import { admit } from './stages/rate-quota.js';
import { resolveScope } from './stages/resolve-scope.js';
import { validateInput } from './stages/validate-input.js';

export interface ToolAnswer {
  status: 200 | 202;
  body: Record<string, unknown>;
}

export type Pipeline = (call: ReceivedCall) => Promise<ToolAnswer>;

/**
 * The governed pipeline: every tool, by REST or MCP, runs these stages in this order (specification, Governed pipeline).
 * What the call did is stored before its answer leaves.
 * @throws AppError whose code is the refusing stage's id, or the code of what `S8:execute` met, with the lifecycle id
 */
export function createPipeline(deps: GatewayDeps): Pipeline {
  return async (received) => {
    const record = new CallRecord(received, deps.observeStage);
    const { outcome, answer } = await run(deps, received, record).catch((error: unknown) => refuse(deps, record, error));
    await record.store(deps.recorder, outcome);
    return { ...answer, body: { lifecycle_id: record.lifecycleId, ...answer.body } };
  };
}

interface Ended {
  outcome: CallOutcome;
  answer: ToolAnswer;
}

async function run(deps: GatewayDeps, received: ReceivedCall, record: CallRecord): Promise<Ended> {
  const principal = await record.at('S1:authenticate', () => authenticate(deps, received));
  record.principal = principal;
  const scoped = await record.at('S2:resolve-scope', () => resolveScope(deps, received, principal, record.lifecycleId));
  record.principal = scoped.principal;
  await record.at('S3:rate-quota', () => admit(deps, scoped));
  const call = await record.at('S4:validate-input', () => validateInput(scoped));
  record.call = call;
  const decision = await record.at('S5:policy', () => decide(deps, call, record));
  const approval = await record.at('S6:approval', () => approve(deps, call, decision, record));
  if (approval.pending) return { outcome: 'pending_approval', answer: { status: 202, body: approval.body } };
  if (call.dryRun) {
    const would = await record.at('S7:dry-run', () => dryRun(call, decision));
    return { outcome: 'dry_run', answer: { status: 200, body: would } };
  }
  record.skip('S7:dry-run', 'not asked for');
  const { body, consumed } = await record.at('S8:execute', () => execute(call));
  record.consumed = consumed;
  return { outcome: 'completed', answer: { status: 200, body } };
}

/** A refusal is stored like an answer, as soon as its project is known; a 401 has no lifecycle. */
async function refuse(deps: GatewayDeps, record: CallRecord, error: unknown): Promise<never> {
  if (!record.principal) throw error;
  const refusal = isAppError(error) ? error : new AppError('internal_error', 'the call failed', { cause: error });
  await record.store(deps.recorder, refusal.status < 500 ? 'denied' : 'failed');
  const { code, message, status, headers } = refusal;
  throw new AppError(code, message, { status, headers, lifecycleId: record.lifecycleId, cause: error });
}
