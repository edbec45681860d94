import type { SecretBox } from '../../auth/secret-box.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/mongo.js';

export interface PayloadDeps {
  collections: Pick<Collections, 'approval_payloads'>;
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

/** The stored payload, or undefined once the approval is decided. */
export async function readPayload(
  { collections, secrets }: Omit<PayloadDeps, 'redact'>,
  approvalId: string,
): Promise<unknown> {
  const kept = await collections.approval_payloads.findOne({ _id: approvalId });
  return kept ? (JSON.parse(secrets.open(kept.sealed, sealedFor(approvalId))) as unknown) : undefined;
}

/** The stored payloads of those of these approvals that have one. */
export async function readPayloads(
  { collections, secrets }: Omit<PayloadDeps, 'redact'>,
  approvalIds: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  if (approvalIds.length === 0) return new Map();
  const kept = await collections.approval_payloads.find({ _id: { $in: [...approvalIds] } }).toArray();
  return new Map(kept.map(({ _id, sealed }) => [_id, JSON.parse(secrets.open(sealed, sealedFor(_id))) as unknown]));
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
