import type { SecretBox } from '../src/auth/secret-box.js';
import { mintResumeToken, publishApproval, recordApproval } from '../src/governance/approvals/publish.js';
import { withdrawApprovals, type WithdrawDeps } from '../src/governance/approvals/withdraw.js';
import { isOver } from '../src/domain/executions/record.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { ApprovalActivities } from '../workflows/approval/activities.js';
import type { ApprovalInput } from '../workflows/approval/messages.js';
import { withPlainHeartbeat } from './with-heartbeat.js';

interface ApprovalActivityDeps extends Pick<WithdrawDeps, 'temporal' | 'audit'> {
  mongo: Mongo;
  secrets: Pick<SecretBox, 'seal'>;
}

export function createApprovalActivities({ mongo, secrets, ...deps }: ApprovalActivityDeps): ApprovalActivities {
  /** A run records its end before it withdraws its approvals, so at least one of the two sees what the other has written. */
  async function withdrawIfRunEnded({ execution_id: _id }: ApprovalInput): Promise<void> {
    if (_id === undefined) return;
    const run = await mongo.collections.executions.findOne({ _id }, { projection: { status: 1 } });
    if (run && isOver(run.status)) await withdrawApprovals({ ...mongo, ...deps }, _id);
  }

  return {
    recordApproval: (approval) =>
      withPlainHeartbeat(async () => {
        await recordApproval({ ...mongo, ...deps, secrets }, approval);
        await withdrawIfRunEnded(approval.input);
      }),
    publishApproval: (approval) =>
      withPlainHeartbeat(async () => {
        await publishApproval({ ...mongo, ...deps }, approval);
        await withdrawIfRunEnded(approval.input);
      }),
    mintResumeToken: (approval) => withPlainHeartbeat(() => mintResumeToken(mongo, secrets, approval)),
  };
}
