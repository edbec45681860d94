import type { Deps } from '../../../src/domain/deps.js';

/**
 * Gives an approval the records that it had in 0.2.0, whose token was stored apart. If the token was used, the worker died
 * before it settled the approval.
 */
export async function storeTokenApart(
  { mongo: { collections } }: Pick<Deps, 'mongo'>,
  approval_id: string,
): Promise<void> {
  const { approvals, resume_tokens } = collections;
  const stored = await approvals.findOne({ _id: approval_id });
  if (!stored?.token) throw new Error('the approval has no token');
  const { project_id, tool, policy_version, policy_ids, required_approvers, payload_digest, caller = '' } = stored;
  const { edited_payload_digest: edited } = stored;
  const { digest: _id, ...token } = stored.token;
  await resume_tokens.insertOne({
    ...{ _id, ...token, approval_id, project_id, caller, tool, policy_version, policy_ids, required_approvers },
    ...{ payload_digest: edited ?? payload_digest, ...(edited !== undefined && { is_edited: true }) },
  });
  const added = {
    token: '',
    caller: '',
    token_ttl_seconds: '',
    call: '',
    due_at: '',
    used_at: '',
    used_by: '',
  } as const;
  await approvals.updateOne({ _id: approval_id }, { $set: { status: 'approved' }, $unset: added });
}
