import { z } from 'zod';
import { whyNotDecide } from '../../../auth/decisions.js';
import type { ProposedAction } from '../../../../workflows/agentflow-execution/preview-record.js';
import { seeingRuns } from '../../../auth/grants.js';
import { permits, type Permission, type Principal } from '../../../auth/principal.js';
import { notFound } from '../../../base/errors.js';
import { payloadDigest } from '../../../governance/approvals/payload-digest.js';
import type { Approval } from '../../../governance/approvals/record.js';
import { summaryOf } from '../../../governance/approvals/summary.js';
import { readerOf, type Reader } from '../../../governance/approvals/view.js';
import { bounded } from '../../../governance/bounded.js';
import { canonicalText } from '../../../base/json.js';
import { previewRule } from '../../../governance/policy/default-rules.js';
import { listPage, type ListPosition, type ListQuery, type Page } from '../../../stores/lists.js';
import type { Deps } from '../../deps.js';
import { isOver, type ExecutionDocument } from '../record.js';
import { askersOf, previewApprovalId, previewNamed } from '../rules.js';
import { readExecution, visibleRuns } from './read.js';

type Preview = ExecutionDocument['previews'][string];

/** A preview in the form of an approval. */
interface PreviewOutline {
  approval: Omit<Approval, 'summary' | 'payload_view'>;
  call: { agent_id: string; preview_id: string; goal: string; kind: Preview['kind']; proposed: unknown };
}

const tool = 'execution.preview';
const seeing: Permission = { grant: 'svc:orchestrate.read', right: seeingRuns };
const deciding: Permission = { grant: 'svc:orchestrate.write', right: ['decide'] };
const statusOf = {
  waiting: 'pending',
  approved: 'approved',
  edited: 'approved',
  rejected: 'rejected',
  expired: 'expired',
} as const;

export interface PreviewApproval {
  approval: Approval;
  title: string;
  /** The proposal that approvers decide on, as the reader sees it. */
  call: unknown;
}

interface ReadOptions {
  reader?: Reader | undefined;
  /** The proposal is only one of a list: it is redacted and shortened for everybody. */
  isExcerpt?: boolean;
}

/** A preview as the caller sees it. Reading a whole proposal is audited. */
export async function toPreviewApproval(
  { governance: { approvals } }: Pick<Deps, 'governance'>,
  record: ExecutionDocument,
  preview: Preview,
  principal: Principal,
  { reader = readerOf(principal), isExcerpt = false }: ReadOptions = {},
): Promise<PreviewApproval> {
  const { approval, call } = outlineOf(record, preview, principal);
  const mayRead = permits(principal, deciding) || permits(principal, { grant: 'svc:governance.read' });
  const seesWhole = reader === 'person' && mayRead;
  const short = seesWhole ? call : bounded(call);
  const title = `${record.agentflow.name}: ${preview.title}`;
  const told = { title, fields: fieldsOf(preview) };
  const hide = (value: unknown, isWhole: boolean) =>
    isWhole
      ? approvals.hideSecrets(value, principal.organizationId)
      : approvals.redact(bounded(value), principal.organizationId);
  const [seen, shown, source] = await Promise.all([
    hide(call, seesWhole),
    isExcerpt && seesWhole ? hide(call, false) : undefined,
    hide(told, seesWhole),
  ]);
  if (seesWhole && !isExcerpt) await approvals.auditReading(principal, approval.approval_id);
  return {
    approval: {
      ...approval,
      summary: summaryOf(source as typeof told, approval.payload_digest),
      payload_view: { is_redacted: !seesWhole, has_hidden: differ(seen, short), is_shortened: differ(short, call) },
    },
    title,
    call: shown ?? seen,
  };
}

function differ(one: unknown, other: unknown): boolean {
  return one !== other && canonicalText(one) !== canonicalText(other);
}

/** What the summary of a preview can name: the inputs of its actions, or its output. */
function fieldsOf({ proposed }: Preview): Record<string, unknown> {
  if (!Array.isArray(proposed)) return { output: (proposed as { output?: unknown } | null)?.output };
  const actions = proposed as readonly ProposedAction[];
  return Object.fromEntries(actions.map(({ name, input }, at) => [`${at + 1} ${name}`, input]));
}

function outlineOf(record: ExecutionDocument, preview: Preview, principal: Principal): PreviewOutline {
  const { agent_id, preview_id, kind, proposed, requested_at, expires_at, decided_by, decided_at } = preview;
  const payload_digest = payloadDigest(tool, { agent_id, preview_id, proposed });
  const isEdited = preview.status === 'edited';
  const status = preview.status === 'waiting' && isOver(record.status) ? 'expired' : statusOf[preview.status];
  const refusal = whyNotDecide(principal, 'preview', { askers: askersOf(record) }) ?? reasonOf(status);
  return {
    approval: {
      approval_id: previewApprovalId(record._id, preview),
      lifecycle_id: null,
      tool,
      requested_by: record.executed_by._id,
      reason: previewRule.description,
      policy_ids: [previewRule.policy_id],
      policy_version: 0,
      payload_digest,
      edited_payload_digest: isEdited ? payloadDigest(tool, { edited: payload_digest, edits: preview.edits }) : null,
      editable_fields: null,
      outcome_unknown: false,
      status,
      required_approvers: previewRule.approvers,
      approver_roles: null,
      votes: [],
      approvals_given: status === 'approved' ? 1 : 0,
      created_at: requested_at,
      expires_at,
      clock_stopped_at: null,
      decided_by,
      decided_at,
      used_at: null,
      used_by: null,
      execution_id: record._id,
      may_decide: refusal === null,
      may_not_decide_reason: refusal,
      may_see_payload: true,
    },
    call: { agent_id, preview_id, goal: record.goal, kind, proposed },
  };
}

function reasonOf(status: Approval['status']): string | null {
  return status === 'pending' ? null : `the approval is ${status}`;
}

/** @throws AppError `not_found` for every id except that of the agent's latest preview */
export async function findPreview(deps: Deps, principal: Principal, id: string) {
  const { executionId, name } = previewNamed(id) ?? { executionId: '', name: '' };
  const record = await readExecution(deps, principal, executionId);
  const preview = Object.hasOwn(record.previews, name) ? record.previews[name] : undefined;
  // An answer to an earlier preview of the agent must not apply to its current one.
  const isNamed = preview && previewApprovalId(record._id, preview) === id;
  if (!isNamed || !permits(principal, seeing)) throw notFound('the approval');
  return { record, preview };
}

/** The previews that wait in runs that the caller sees, newest first. */
export async function waitingPreviews(
  deps: Deps,
  principal: Principal,
  paging: ListQuery,
  reader?: Reader,
): Promise<Page<ListPosition & { item: PreviewApproval }>> {
  if (!permits(principal, seeing)) return { data: [], total_count: 0, next_cursor: null };
  const waiting = {
    ...visibleRuns(principal),
    'execution_context.waiting_for.kind': 'preview',
    status: { $in: ['running', 'paused'] as const },
  };
  const by = 'execution_context.waiting_for.requested_at';
  const page = await listPage(deps.mongo.collections.executions, waiting as object, paging, by, shown);
  const data = await Promise.all(
    page.data.map(async (record) => {
      const { requested_at: at } = Waiting.parse(record.execution_context.waiting_for);
      const previews = Object.values(record.previews).filter(({ status }) => status === 'waiting');
      const items = previews.map((preview) =>
        toPreviewApproval(deps, record, preview, principal, { reader, isExcerpt: true }),
      );
      return (await Promise.all(items)).map((item) => ({ at, id: record._id, item }));
    }),
  );
  return { ...page, data: data.flat() };
}

/** What `toPreviewApproval` and the order of the list need. */
const shown = {
  status: 1,
  goal: 1,
  'agentflow.name': 1,
  executed_by: 1,
  caused_by: 1,
  previews: 1,
  'execution_context.waiting_for': 1,
};

const Waiting = z.object({ requested_at: z.number() });
