import type { SecretBox } from '../../auth/secret-box.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/mongo.js';
import { editsId, readEdits } from './edits.js';
import type { ApprovalDocument } from './record.js';

export interface PayloadDeps {
  collections: Pick<Collections, 'approval_payloads' | 'act_edits'>;
  secrets: Pick<SecretBox, 'seal' | 'open'>;
  /** Replaces secrets and personal data. */
  redact(value: unknown): Promise<unknown>;
}

const maxLength = 64 * 1024;

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
  const text = JSON.stringify(await redact(toBoundedPayload(payload)));
  const _id = approvalId;
  await insertOnce(collections.approval_payloads, {
    _id,
    sealed: secrets.seal(text, sealedFor(_id)),
    expires_at: new Date(until * 1000),
  });
}

type Shown = Pick<ApprovalDocument, '_id'> & { edited_payload_digest?: string | null | undefined };

/** The stored payload, or undefined once the approval is decided. */
export async function readPayload(deps: PayloadDeps, approval: Shown): Promise<unknown> {
  return (await readPayloads(deps, [approval])).get(approval._id);
}

/** The stored payloads of those of these approvals that have one, with what approvers have edited. */
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
        return [_id, change ? { ...payload, edits: await deps.redact(toBoundedPayload(change.edits)) } : payload];
      }),
    ),
  );
}

interface Limits {
  text: number;
  items: number;
}

const limits: readonly Limits[] = [
  { text: 2000, items: 50 },
  { text: 200, items: 20 },
  { text: 40, items: 5 },
];

/** Shortens the payload step by step until it fits, which limits the work of the redaction. */
function toBoundedPayload(payload: unknown): unknown {
  for (const limit of limits) {
    const value = shortened(payload, limit);
    if ((JSON.stringify(value) ?? '').length <= maxLength) return value;
  }
  return { truncated: true };
}

function shortened(value: unknown, limit: Limits, depth = 0): unknown {
  if (typeof value === 'string')
    return value.length <= limit.text ? value : `${value.slice(0, limit.text)} … (${value.length} characters)`;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 20) return '…';
  if (Array.isArray(value)) {
    const shown = value.slice(0, limit.items).map((item) => shortened(item, limit, depth + 1));
    return value.length <= limit.items ? shown : [...shown, `… (${value.length} items)`];
  }
  const entries = Object.entries(value);
  const shown = entries.slice(0, limit.items).map(([name, item]) => [name, shortened(item, limit, depth + 1)] as const);
  if (entries.length > limit.items) shown.push(['…', `(${entries.length} fields)`]);
  return Object.fromEntries(shown);
}
