import type { SecretBox } from '../../auth/secret-box.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import { bounded } from '../bounded.js';
import { editsId, readEdits } from './edits.js';
import type { ApprovalDocument } from './record.js';

export interface PayloadDeps {
  collections: Pick<Collections, 'approval_payloads' | 'act_edits'>;
  secrets: Pick<SecretBox, 'seal' | 'open'>;
  /** Replaces secrets and personal data. */
  redact(value: unknown): Promise<unknown>;
}

function sealedFor(approvalId: string): string {
  return `approval-payload:${approvalId}`;
}

/** Stores what an approver can see of a call, redacted and sealed. Shortens long texts and lists. */
export async function keepPayload(
  { collections, secrets, redact }: PayloadDeps,
  approvalId: string,
  payload: unknown,
  until: number,
): Promise<void> {
  const text = JSON.stringify(await redact(bounded(payload)));
  const _id = approvalId;
  await insertOnce(collections.approval_payloads, {
    _id,
    sealed: secrets.seal(text, sealedFor(_id)),
    expires_at: new Date(until * 1000),
  });
}

type Shown = Pick<ApprovalDocument, '_id'> & { edited_payload_digest?: string | null | undefined };

/** The stored payloads by approval id, with the edits of approvers. Omits approvals without a payload. */
export async function readPayloads(
  deps: PayloadDeps,
  approvals: readonly Shown[],
): Promise<ReadonlyMap<string, unknown>> {
  if (approvals.length === 0) return new Map();
  const { collections, secrets } = deps;
  const edited = new Map(approvals.map(({ _id, edited_payload_digest }) => [_id, edited_payload_digest ?? undefined]));
  const kept = await collections.approval_payloads.find({ _id: { $in: [...edited.keys()] } }).toArray();
  return new Map(
    await Promise.all(
      kept.map(async ({ _id, sealed }): Promise<[string, unknown]> => {
        const payload = JSON.parse(secrets.open(sealed, sealedFor(_id))) as object;
        const digest = edited.get(_id);
        const change = digest === undefined ? undefined : await readEdits(deps, editsId(_id, digest));
        return [_id, change ? { ...payload, edits: await deps.redact(bounded(change.edits)) } : payload];
      }),
    ),
  );
}
