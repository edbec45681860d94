import type { AuditEntry } from '../../../governance/audit/entry.js';
import { stageDocs } from '../../../governance/kernel/stage-ids.js';
import type { PolicyDecision } from '../../../governance/lifecycles/policy-decision.js';
import { LifecycleStatus, type Lifecycle } from '../../../governance/lifecycles/record.js';
import type { Page } from '../../../stores/lists.js';
import { html, type Html } from '../../browser/html.js';
import { queryOf, type Visit } from '../visit.js';
import { badge, choices, code, duration, facts, filterForm, pager, time, words } from './parts.js';

export interface LifecyclesPage {
  page: Page<Lifecycle>;
  tool: string | undefined;
  status: LifecycleStatus | undefined;
}

const options = [
  { value: '', label: 'All' },
  ...LifecycleStatus.options.map((value) => ({ value, label: words(value) })),
];

const stages: readonly string[] = stageDocs.map(({ stage }) => stage);

export function lifecyclesContent({ base, req }: Visit, { page, tool, status }: LifecyclesPage): Html {
  const action = `${base}/lifecycles`;
  return html`<h1>Lifecycles</h1>
${filterForm(
  action,
  html`${choices('status', 'State', options, status ?? '')}
<div><label for="tool">Tool</label><input id="tool" name="tool" type="text" maxlength="200" autocomplete="off" value="${tool ?? ''}"></div>`,
)}
${page.data.length === 0 && html`<p class="note">No governed call ${tool === undefined && status === undefined ? 'was made in this project yet' : 'fits'}.</p>`}
<ul class="rows">${page.data.map((lifecycle) => row(action, lifecycle))}</ul>
${pager(action, page, { status, tool }, queryOf(req, 'cursor') === undefined)}`;
}

function row(
  action: string,
  { lifecycle_id: id, tool, status, stages: reached, created_at, ended_at, principal }: Lifecycle,
): Html {
  const refused = reached.find(({ status: outcome }) => outcome === 'failed');
  return html`<li>
<div class="head"><h2><a href="${action}/${id}">${tool}</a></h2> ${badge(status)}</div>
${facts([
  ['At', html`${time(created_at)}, took ${duration(ended_at - created_at)}`],
  ['Caller', callerOf(principal)],
  ['Refused at', refused?.stage],
])}
</li>`;
}

/** A service is named `service:connector-load` by itself. */
function callerOf({ kind, user_id }: Lifecycle['principal']): string {
  return kind === 'service' ? user_id : `${kind}:${user_id}`;
}

export interface LifecyclePage {
  lifecycle: Lifecycle;
  decision: PolicyDecision | undefined;
  entry: AuditEntry | undefined;
}

export function lifecycleContent({ base }: Visit, { lifecycle, decision, entry }: LifecyclePage): Html {
  const {
    lifecycle_id,
    tool,
    status,
    created_at,
    ended_at,
    principal,
    payload_digest,
    trace_id,
    approval_id,
    consumed,
  } = lifecycle;
  return html`<h1>${tool}</h1>
<div class="state"><p><span class="hidden">State: </span>${badge(status)}</p></div>
<section aria-labelledby="stages">
<h2 id="stages">Stages</h2>
${strip(lifecycle)}
</section>
<section aria-labelledby="call"><h2 id="call">The call</h2>
${facts([
  ['Lifecycle', code(lifecycle_id)],
  ['At', html`${time(created_at)}, took ${duration(ended_at - created_at)}`],
  ['Caller', callerOf(principal)],
  ['API key', principal.key_id],
  ['OAuth client', principal.client_id],
  ['Payload (SHA-256)', payload_digest === null ? 'not validated' : code(payload_digest)],
  ['Trace', code(trace_id)],
  ['Entities in the answer', consumed.length],
  ['Approval', approval_id === null ? undefined : html`<a href="${base}/approvals/${approval_id}">${approval_id}</a>`],
])}</section>
${decision && policyDecision(decision)}
${entry && auditEntry(base, entry)}`;
}

/** All eight, so that what was not reached is seen as well. */
function strip({ stages: reached }: Lifecycle): Html {
  return html`<ol class="strip">${stages.map((stage) => {
    const found = reached.find(({ stage: name }) => name === stage);
    const outcome = found?.status ?? 'not reached';
    const [number, name] = stage.split(':');
    return html`<li class="${outcome.replace(' ', '-')}"><strong>${number}</strong> <span>${name}</span> <span class="outcome"><span aria-hidden="true">${{ ok: '✓', failed: '✕', 'not reached': '–' }[outcome]}</span> ${outcome}</span>${
      found && found.detail !== '' && html` <span class="detail">${found.detail}</span>`
    }</li>`;
  })}</ol>`;
}

function policyDecision({ decision_id, decision, policy_ids, policy_version, at }: PolicyDecision): Html {
  return html`<section aria-labelledby="decision"><h2 id="decision">Policy decision</h2>
<p>${badge(decision)}</p>
${facts([
  ['Rules', policy_ids.join(', ')],
  ['Version of the policies', policy_version],
  ['At', time(at)],
  ['Decision', code(decision_id)],
])}</section>`;
}

function auditEntry(base: string, { seq, actor, action, resource, outcome, hash, prev_hash }: AuditEntry): Html {
  return html`<section aria-labelledby="entry"><h2 id="entry">Audit entry</h2>
${facts([
  ['Place in the chain', seq],
  ['Actor', actor],
  ['Action', `${action}: ${outcome}`],
  ['Resource', resource],
  ['Hash', code(hash)],
  ['Hash before', code(prev_hash)],
])}
<p><a href="${base}/audit">Verify the chain</a></p></section>`;
}
