import { isAdmin } from '../../../auth/principal.js';
import { ApprovalStatus, type Approval } from '../../../governance/approvals/record.js';
import type { Page } from '../../../stores/lists.js';
import { html, type Html } from '../../browser/html.js';
import { problemNote } from '../../browser/layout.js';
import { queryOf, type Visit } from '../visit.js';
import { badge, choices, code, doneNote, facts, filterForm, pager, time, words } from './parts.js';

type Names = ReadonlyMap<string, string>;

const options = [
  ...ApprovalStatus.options.map((value) => ({ value, label: words(value) })),
  { value: 'all', label: 'All' },
];

export interface ApprovalsPage {
  page: Page<Approval>;
  status: string;
  names: Names;
}

export function approvalsContent({ base, req }: Visit, { page, status, names }: ApprovalsPage): Html {
  const action = `${base}/approvals`;
  return html`<h1>Approvals</h1>
${filterForm(action, choices('status', 'State', options, status))}
<div data-part="list">
${page.data.length === 0 && html`<p class="note">${status === 'pending' ? 'Nothing waits for a decision.' : 'There are none in this state.'}</p>`}
<ul class="rows">${page.data.map((approval) => row(action, approval, names))}</ul>
${pager(action, page, { status }, queryOf(req, 'cursor') === undefined)}
</div>`;
}

function row(action: string, approval: Approval, names: Names): Html {
  const { approval_id: id, tool, requested_by, status, created_at, expires_at } = approval;
  return html`<li>
<div class="head"><h2><a id="open-${id}" href="${action}/${id}">${tool}</a></h2> ${badge(status)}</div>
${facts([
  ['Requester', names.get(requested_by) ?? code(requested_by)],
  ['Asked', time(created_at)],
  ['Can be decided until', status === 'pending' ? time(expires_at) : undefined],
])}
</li>`;
}

export interface ApprovalPage {
  approval: Approval;
  names: Names;
  /** What the rules say that hold the call, by policy id; empty for who may not read policies. */
  rules: ReadonlyMap<string, string>;
  problem: string | undefined;
  done: string | undefined;
}

const doneTexts = new Map([
  ['approve', 'Your approval is recorded.'],
  ['reject', 'Your rejection is recorded.'],
]);

export function approvalContent(visit: Visit, { approval, names, rules, problem, done }: ApprovalPage): Html {
  const { tool, status } = approval;
  return html`<h1>Approval of ${tool}</h1>
${problemNote(problem)}
${doneNote(doneTexts.get(done ?? ''))}
<div class="state"><p role="status" data-part="state"><span class="hidden">State: </span>${badge(status)}</p></div>
<section aria-labelledby="what">
<h2 id="what">What it would allow</h2>
<div data-part="what">${what(visit, approval, names, rules)}</div>
</section>
<div data-part="votes">${votes(approval, names)}</div>
<div data-part="decision">${decision(visit, approval)}</div>`;
}

function what({ base }: Visit, approval: Approval, names: Names, rules: ApprovalPage['rules']): Html {
  const {
    approval_id,
    lifecycle_id,
    tool,
    requested_by,
    reason,
    policy_ids,
    policy_version,
    payload_digest,
    created_at,
    expires_at,
    decided_by,
    decided_at,
    approver_roles,
  } = approval;
  return html`<p>One call of <strong>${tool}</strong> by <strong><bdi>${names.get(requested_by) ?? requested_by}</bdi></strong> with the payload of this digest, once. Any other call or payload has to be asked for anew.</p>
${facts([
  ['Tool', tool],
  ['Requester', names.get(requested_by) ?? code(requested_by)],
  [
    'Payload (SHA-256)',
    html`${code(payload_digest)}<br><span class="soft">The service keeps the payload until the decision. <code>GET /v1/approvals/${approval_id}</code> shows it.</span>`,
  ],
  [
    'Held by',
    html`<ul class="plain">${policy_ids.map((id) => html`<li>${code(id)}${rules.has(id) && html` <span class="soft">${rules.get(id)}</span>`}</li>`)}</ul>`,
  ],
  ['Version of the policies', policy_version],
  ['Reason', reason === '' ? undefined : reason],
  ['Asked', time(created_at)],
  ['Can be decided until', time(expires_at)],
  ['Can be decided by', approver_roles?.map((role) => words(role.toLowerCase())).join(' or ')],
  [
    'Decided',
    decided_at === null ? undefined : html`${time(decided_at)} by ${names.get(decided_by ?? '') ?? decided_by ?? ''}`,
  ],
  ['Lifecycle', html`<a id="lifecycle" href="${base}/lifecycles/${lifecycle_id}">${lifecycle_id}</a>`],
  ['Approval', code(approval_id)],
])}`;
}

function votes({ required_approvers: required, votes: cast }: Approval, names: Names): Html {
  const given = cast.filter(({ decision: vote }) => vote === 'approve').length;
  return html`<section aria-labelledby="votes"><h2 id="votes">Votes</h2>
<p>${given} of ${required} ${required === 1 ? 'approval' : 'approvals'} given.</p>
<ul class="rows">${cast.map(
    ({ user_id, role, decision: vote, comment, at }) =>
      html`<li><p>${badge(vote)} <bdi>${names.get(user_id) ?? user_id}</bdi>, ${words(role.toLowerCase())}, ${time(at)}</p>${comment !== '' && html`<p class="text">${comment}</p>`}</li>`,
  )}</ul></section>`;
}

/** The operation itself refuses whoever may not decide; the form is not offered to whom it would refuse anyway. */
function decision(
  { base, csrf, principal }: Visit,
  { approval_id, status, requested_by, approver_roles }: Approval,
): Html | undefined {
  if (status !== 'pending' || !isAdmin(principal)) return undefined;
  if (approver_roles?.includes(principal.role) === false)
    return html`<p class="note">Your role on this project cannot decide this.</p>`;
  if (requested_by === principal.userId)
    return html`<p class="note">You asked for this yourself, so somebody else has to decide.</p>`;
  return html`<section aria-labelledby="decide"><h2 id="decide">Decide</h2>
<form method="post" action="${base}/approvals/${approval_id}" class="narrow">
<input type="hidden" name="csrf_token" value="${csrf}">
<label for="comment">Reason (optional, kept with your vote)</label>
<textarea id="comment" name="comment" maxlength="1000" rows="3"></textarea>
<div class="actions"><button class="primary" id="approve" name="decision" value="approve">Approve</button><button class="danger" id="reject" name="decision" value="reject">Reject</button></div>
</form></section>`;
}
