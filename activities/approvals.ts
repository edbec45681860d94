import type { SecretBox } from '../src/auth/secret-box.js';
import { approvalRecord, type ResumeTokenDocument } from '../src/governance/approvals/record.js';
import { hashResumeToken, newResumeToken, sealedFor } from '../src/governance/approvals/resume-token.js';
import { isDuplicateKey, type Mongo } from '../src/stores/mongo.js';
import type { ApprovalActivities } from '../workflows/approval/activities.js';

export interface ApprovalActivityDeps {
  mongo: Mongo;
  secrets: Pick<SecretBox, 'seal'>;
}

/** The record of an approval, and its one resume token: the index over `approval_id` refuses a second one. */
export function createApprovalActivities({ mongo, secrets }: ApprovalActivityDeps): ApprovalActivities {
  const { approvals, resume_tokens } = mongo.collections;
  return {
    async publishApproval({ input, state, revision }) {
      const { _id, ...record } = approvalRecord(input, state, revision);
      await unlessPresent(approvals.replaceOne({ _id, revision: { $lte: revision } }, record, { upsert: true }));
    },
    async mintResumeToken({ input, approved_at }) {
      const token = newResumeToken();
      const { approval_id, project_id, caller, tool, payload_digest, policy_version, policy_ids, required_approvers } = input;
      const record: ResumeTokenDocument = {
        _id: hashResumeToken(token),
        ...{ approval_id, project_id, caller, tool, payload_digest, policy_version, policy_ids, required_approvers },
        sealed: secrets.seal(token, sealedFor(approval_id)),
        expires_at: approved_at + input.token_ttl_seconds,
        used_at: null,
        used_by: null,
      };
      await unlessPresent(resume_tokens.insertOne(record));
    },
  };
}

/** A key that is there already says that this, or something later, was written. */
async function unlessPresent(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}
