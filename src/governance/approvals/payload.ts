import type { SecretBox } from '../../auth/secret-box.js';
import { AppError } from '../../base/errors.js';
import { canonicalText, type JsonObject } from '../../base/json.js';
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
const sourcesFor = (approvalId: string) => `approval-summary-sources:${approvalId}`;

/** `whole`: for people who may decide. `redacted`: for other callers. */
type View = 'whole' | 'redacted';

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
  const sources: Record<View, SummarySource> = {
    whole: { ...summary, ...(wholeFields as typeof fields) },
    redacted: { ...summary, ...(redactedFields as typeof fields) },
  };
  const summaries: Record<View, string> = {
    whole: summaryOf(sources.whole, digest),
    redacted: summaryOf(sources.redacted, digest),
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
    summary_sources: secrets.seal(JSON.stringify(bounded(sources)), sourcesFor(_id)),
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

/** What is known about a kept call without opening it. */
export interface KeptOutline {
  /** The summaries of the call as it was edited last. */
  summaries: Record<View, string>;
  views: ApprovalPayloadDocument['views'];
}

/** An approval whose call is read. */
export type Shown = Pick<ApprovalDocument, '_id'> & { edited_payload_digest?: string | null | undefined };

/** The outlines by approval id. Omits approvals without a kept call. */
export async function readOutlines(
  deps: PayloadDeps,
  approvals: readonly Shown[],
  organizationId: string,
): Promise<ReadonlyMap<string, KeptOutline>> {
  if (approvals.length === 0) return new Map();
  const { collections, secrets } = deps;
  const byId = new Map(approvals.map((approval) => [approval._id, approval]));
  const kept = await collections.approval_payloads
    .find({ _id: { $in: [...byId.keys()] } }, { projection: { summaries: 1, views: 1 } })
    .toArray();
  return new Map(
    await Promise.all(
      kept.map(async ({ _id, summaries: sealed, views }): Promise<[string, KeptOutline]> => {
        const asked = JSON.parse(secrets.open(sealed, summariesFor(_id))) as Record<View, string>;
        const summaries = (await editedSummaries(deps, byId.get(_id) ?? { _id }, organizationId)) ?? asked;
        return [_id, { summaries, views }];
      }),
    ),
  );
}

/** The summaries of a call with the edits of its approvers. Undefined if there are none. */
async function editedSummaries(
  deps: PayloadDeps,
  { _id, edited_payload_digest: digest }: Shown,
  organizationId: string,
): Promise<Record<View, string> | undefined> {
  if (typeof digest !== 'string') return undefined;
  const [change, kept] = await Promise.all([
    readEdits(deps, editsId(_id, digest)),
    deps.collections.approval_payloads.findOne({ _id }, { projection: { summary_sources: 1 } }),
  ]);
  if (!change || !kept) return undefined;
  const { whole, redacted } = JSON.parse(deps.secrets.open(kept.summary_sources, sourcesFor(_id))) as Record<
    View,
    SummarySource
  >;
  const [wholeEdits, redactedEdits] = (await Promise.all([
    deps.hideSecrets(change.edits, organizationId),
    deps.redact(bounded(change.edits), organizationId),
  ])) as [JsonObject, JsonObject];
  const edited = (source: SummarySource, edits: JsonObject) =>
    summaryOf({ ...source, fields: { ...source.fields, ...edits } }, digest);
  return { whole: edited(whole, wholeEdits), redacted: edited(redacted, redactedEdits) };
}

export function viewOf(outline: KeptOutline, seesWhole: boolean): PayloadView {
  return outline.views[seesWhole ? 'whole' : 'redacted'];
}

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
        const text = seesWhole ? secrets.open(whole, wholeFor(_id)) : secrets.open(sealed, sealedFor(_id));
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
