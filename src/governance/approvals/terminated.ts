import { approvalSettledSignal } from '../../../workflows/agentflow-execution/act-messages.js';
import { executionWorkflowId } from '../../../workflows/agentflow-execution/messages.js';
import { withdrawnBy } from '../../../workflows/approval/messages.js';
import type { SecretBox } from '../../auth/secret-box.js';
import { epochSeconds } from '../../base/time.js';
import { isWorkflowGone, type Temporal } from '../../temporal/client.js';
import { recordApproval } from './publish.js';
import { inputOf, type ApprovalDocument } from './record.js';
import type { EndCallsDeps } from './withdraw.js';

export interface TerminatedDeps extends EndCallsDeps {
  collections: Parameters<typeof recordApproval>[0]['collections'];
  secrets: Pick<SecretBox, 'seal'>;
  temporal: Temporal;
}

/**
 * Rejects the calls of a pending approval whose workflow an operator has terminated, as its workflow does if an operator
 * cancels it. Otherwise, it would wait in the inbox for ever. Safe to repeat.
 * @returns false for an approval of 0.2.0, whose record does not have what its workflow began with
 */
export async function rejectTerminated(deps: TerminatedDeps, record: ApprovalDocument): Promise<boolean> {
  const input = inputOf(record);
  if (!input) return false;
  const end = { status: 'rejected' as const, decided_by: withdrawnBy, decided_at: epochSeconds() };
  const state = { votes: record.votes, ...end };
  await recordApproval(deps, { input, state, revision: record.revision + 1 });
  const { execution_id } = input;
  if (execution_id !== undefined) await wakeRun(deps, execution_id, record._id);
  return true;
}

async function wakeRun({ temporal }: TerminatedDeps, executionId: string, approvalId: string): Promise<void> {
  try {
    await temporal.call((client) =>
      client.workflow.getHandle(executionWorkflowId(executionId)).signal(approvalSettledSignal, approvalId),
    );
  } catch (error) {
    if (!isWorkflowGone(error)) throw error;
  }
}
