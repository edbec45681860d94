import type { Logger } from '../../log.js';
import { epochSeconds } from '../../base/time.js';
import { forEachDue } from '../for-each-due.js';
import type { ApprovalDocument } from './record.js';
import { startApproval } from './request.js';
import { endCallsOfToken, endToken, type WithdrawDeps } from './withdraw.js';

interface SweepDeps extends WithdrawDeps {
  log: Pick<Logger, 'warn'>;
}

/**
 * Continues approvals that nobody else continues: starts those whose process died before it had, and ends the calls whose
 * token has expired unused, because an approval was given and nobody made the call in time.
 */
export async function sweepApprovals(deps: SweepDeps, now = epochSeconds()): Promise<void> {
  const { collections, log } = deps;
  const due = { due_at: { $lt: now } };
  await forEachDue({ collection: collections.approvals, due, at: 'due_at', log, now }, (approval) =>
    approval.status === 'approved' ? endUnused(deps, approval, now) : startApproval(deps.temporal, approval),
  );
}

/** While a call uses the token, the approval stays due. */
async function endUnused(deps: SweepDeps, { _id }: ApprovalDocument, now: number): Promise<void> {
  if (await endToken(deps.collections, _id, { expiredBefore: now }))
    await endCallsOfToken(deps, _id, 'the approval expired before it was used');
}
