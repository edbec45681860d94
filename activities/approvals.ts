import { ApplicationFailure } from '@temporalio/common';
import type { SecretBox } from '../src/auth/secret-box.js';
import { isSignedDecision, mintResumeToken, publishApproval } from '../src/governance/approvals/publish.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { ApprovalActivities } from '../workflows/approval/activities.js';

export interface ApprovalActivityDeps {
  mongo: Mongo;
  secrets: Pick<SecretBox, 'isSigned' | 'seal'>;
}

export function createApprovalActivities({ mongo, secrets }: ApprovalActivityDeps): ApprovalActivities {
  return {
    publishApproval: (approval) => publishApproval(mongo, approval),
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
