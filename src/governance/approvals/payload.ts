import type { SecretBox } from '../../auth/secret-box.js';
import { AppError } from '../../errors.js';
import { canonicalText } from '../../json.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import { bounded } from '../bounded.js';
import { editsId, readEdits } from './edits.js';
import type { ApprovalDocument, ApprovalPayloadDocument, PayloadView } from './record.js';
import { summaryOf, type SummarySource } from './summary.js';

export interface PayloadDeps {
  collections: Pick<Collections, 'approval_payloads' | 'act_edits'>;
  secrets: Pick<SecretBox, 'seal' | 'open'>;
  /** Replaces secrets and personal data. */
  redact(value: unknown, organizationId: string): Promise<unknown>;
  /** Replaces secrets. */
  hideSecrets(value: unknown, organizationId: string): Promise<unknown>;
}

/** A call that waits: the call itself, and what its summary is made from. */
export interface KeptCall {
  approvalId: string;
  projectId: string;
  organizationId: string;
  digest: string;
  call: unknown;
  summary: SummarySource;
}

const sealedFor = (approvalId: string) => `approval-payload:${approvalId}`;
const wholeFor = (approvalId: string) => `approval-call:${approvalId}`;
const summariesFor = (approvalId: string) => `approval-summary:${approvalId}`;

/** A record of MongoDB has at most 16 MiB. */
const maxSealed = 14 * 1024 * 1024;

/**
 * Keeps a call for as long as its audit entry, sealed: as a whole for people who may decide, and a redacted and shortened
 * copy for other callers. Neither contains secrets.
 * @throws AppError `payload_too_large`
 */
export async function keepPayload(
  { collections, secrets, redact, hideSecrets }: PayloadDeps,
  { approvalId: _id, projectId: project_id, organizationId, digest, call, summary }: KeptCall,
): Promise<void> {
  const short = bounded(call);
  const fields = { title: summary.title, fields: summary.fields };
  const [whole, redacted, wholeFields, redactedFields] = await Promise.all([
    hideSecrets(call, organizationId),
    redact(short, organizationId),
    hideSecrets(fields, organizationId),
    redact(bounded(fields), organizationId),
  ]);
  const summaries: Summaries = {
    whole: summaryOf({ ...summary, ...(wholeFields as typeof fields) }, digest),
    redacted: summaryOf({ ...summary, ...(redactedFields as typeof fields) }, digest),
  };
  const sealedCall = secrets.seal(JSON.stringify(whole), wholeFor(_id));
  if (sealedCall.length > maxSealed)
    throw new AppError('payload_too_large', 'the call needs an approval, and is too large for one: send less at once');
  await insertOnce(collections.approval_payloads, {
    _id,
    project_id,
    whole: sealedCall,
    sealed: secrets.seal(JSON.stringify(redacted), sealedFor(_id)),
    summaries: secrets.seal(JSON.stringify(summaries), summariesFor(_id)),
    views: {
      whole: { is_redacted: false, has_hidden: differ(whole, call), is_shortened: false },
      redacted: { is_redacted: true, has_hidden: differ(redacted, short), is_shortened: differ(short, call) },
    },
  });
}

/** Whether two values are different JSON. */
export function differ(one: unknown, other: unknown): boolean {
  return one !== other && canonicalText(one) !== canonicalText(other);
}

interface Summaries {
  whole: string;
  redacted: string;
}

/** What is known about a kept call without opening it. */
export interface KeptOutline {
  summaries?: Summaries;
  views: ApprovalPayloadDocument['views'];
}

/** Releases before this one kept a redacted and shortened copy only. */
const ofEarlierReleases: PayloadView = { is_redacted: true, has_hidden: true, is_shortened: true };

/** The outlines by approval id. Omits approvals without a kept call. */
export async function readOutlines(
  { collections, secrets }: Pick<PayloadDeps, 'collections' | 'secrets'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KeptOutline>> {
  if (ids.length === 0) return new Map();
  const kept = await collections.approval_payloads
    .find({ _id: { $in: [...ids] } }, { projection: { summaries: 1, views: 1 } })
    .toArray();
  return new Map(
    kept.map(({ _id, summaries, views }) => [
      _id,
      {
        ...(summaries !== undefined && {
          summaries: JSON.parse(secrets.open(summaries, summariesFor(_id))) as Summaries,
        }),
        views,
      },
    ]),
  );
}

export function viewOf(outline: KeptOutline, seesWhole: boolean): PayloadView {
  return outline.views?.[seesWhole ? 'whole' : 'redacted'] ?? ofEarlierReleases;
}

type Shown = Pick<ApprovalDocument, '_id'> & { edited_payload_digest?: string | null | undefined };

/** The kept calls by approval id, with the edits of approvers. Omits approvals without a kept call. */
export async function readPayloads(
  deps: PayloadDeps,
  approvals: readonly Shown[],
  { seesWhole, organizationId }: { seesWhole: boolean; organizationId: string },
): Promise<ReadonlyMap<string, unknown>> {
  if (approvals.length === 0) return new Map();
  const { collections, secrets } = deps;
  const edited = new Map(approvals.map(({ _id, edited_payload_digest }) => [_id, edited_payload_digest ?? undefined]));
  const kept = await collections.approval_payloads
    .find({ _id: { $in: [...edited.keys()] } }, { projection: seesWhole ? {} : { whole: 0 } })
    .toArray();
  return new Map(
    await Promise.all(
      kept.map(async ({ _id, sealed, whole }): Promise<[string, unknown]> => {
        const text =
          whole === undefined || !seesWhole ? secrets.open(sealed, sealedFor(_id)) : secrets.open(whole, wholeFor(_id));
        const payload = JSON.parse(text) as object;
        const digest = edited.get(_id);
        const change = digest === undefined ? undefined : await readEdits(deps, editsId(_id, digest));
        if (!change) return [_id, payload];
        const edits = await (seesWhole
          ? deps.hideSecrets(change.edits, organizationId)
          : deps.redact(bounded(change.edits), organizationId));
        return [_id, { ...payload, edits }];
      }),
    ),
  );
}
