import type { SecretBox } from '../src/auth/secret-box.js';
import { mintResumeToken, publishApproval } from '../src/governance/approvals/publish.js';
import { withdrawApprovals, type WithdrawDeps } from '../src/governance/approvals/withdraw.js';
import { isOver } from '../src/domain/executions/record.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { ApprovalActivities } from '../workflows/approval/activities.js';

interface ApprovalActivityDeps extends Pick<WithdrawDeps, 'temporal' | 'audit'> {
  mongo: Mongo;
  secrets: Pick<SecretBox, 'seal'>;
}

export function createApprovalActivities({ mongo, secrets, ...deps }: ApprovalActivityDeps): ApprovalActivities {
  return {
    async publishApproval(approval) {
      await publishApproval({ ...mongo, ...deps }, approval);
      const { execution_id: _id } = approval.input;
      if (_id === undefined) return;
      // A run records its end before it withdraws its approvals, so at least one of the two sees what the other has written.
      const run = await mongo.collections.executions.findOne({ _id }, { projection: { status: 1 } });
      if (run && isOver(run.status)) await withdrawApprovals({ ...mongo, ...deps }, _id);
    },
    mintResumeToken: (approval) => mintResumeToken(mongo, secrets, approval),
  };
}
