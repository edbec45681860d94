import { ApplicationFailure } from '@temporalio/common';
import type { SecretBox } from '../src/auth/secret-box.js';
import { isSignedDecision, mintResumeToken, publishApproval } from '../src/governance/approvals/publish.js';
import { isOver } from '../src/domain/executions/record.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { ApprovalActivities } from '../workflows/approval/activities.js';

export interface ApprovalActivityDeps {
  mongo: Mongo;
  secrets: Pick<SecretBox, 'isSigned' | 'seal'>;
}

export function createApprovalActivities({ mongo, secrets }: ApprovalActivityDeps): ApprovalActivities {
  return {
    async publishApproval(approval) {
      await publishApproval(mongo, approval);
      const { execution_id } = approval.input;
      if (execution_id === undefined) return undefined;
      // Read after the write, and the run reads its approvals after it has written its end: one of the two sees the other.
      const run = await mongo.collections.executions.findOne({ _id: execution_id }, { projection: { status: 1 } });
      return { is_run_over: run !== null && isOver(run.status) };
    },
    async verifyDecision(decision) {
      if (!isSignedDecision(secrets, decision))
        throw ApplicationFailure.nonRetryable(
          'the decision does not have a valid signature of the API',
          'access_denied',
        );
    },
    mintResumeToken: (approval) => mintResumeToken(mongo, secrets, approval),
  };
}
