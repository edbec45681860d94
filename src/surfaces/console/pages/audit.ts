import type { AuditEntry } from '../../../governance/audit/entry.js';
import type { Verification } from '../../../governance/audit/verify.js';
import { html, type Html } from '../../browser/html.js';
import type { Page } from '../../../stores/lists.js';
import type { Visit } from '../visit.js';
import { code, facts, pager, time } from './parts.js';

export interface AuditPage {
  page: Page<AuditEntry>;
  /** Left out on the older pages of the list. */
  verification: Verification | undefined;
  checkedAt: number;
}

export function auditContent({ base }: Visit, { page, verification, checkedAt }: AuditPage): Html {
  return html`<h1>Audit</h1>
<p>The chain is that of the whole organization: each entry carries the hash of the one before, and signed checkpoints vouch for them.</p>
${verification && verdict(base, verification, checkedAt)}
<section aria-labelledby="entries">
<h2 id="entries">Entries</h2>
<ul class="rows">${page.data.map((entry) => row(base, entry))}</ul>
${pager(`${base}/audit`, page, {}, verification !== undefined)}
</section>`;
}

function verdict(
  base: string,
  { valid, entries, head_hash, first_broken_seq, checkpoint, reason }: Verification,
  checkedAt: number,
): Html {
  return html`<section aria-labelledby="verification">
<h2 id="verification">Verification</h2>
<p class="${valid ? 'done' : 'problem'}" role="${valid ? 'status' : 'alert'}">${valid ? 'The chain is valid.' : `The chain is broken: ${reason ?? 'no reason is known'}.`}</p>
${facts([
  ['Entries', entries],
  ['First broken entry', first_broken_seq ?? 'none'],
  ['Head hash', code(head_hash)],
  [
    'Last sound checkpoint',
    checkpoint === null
      ? 'none yet'
      : html`number ${checkpoint.number}, over ${checkpoint.entries} entries, ${time(checkpoint.at)}`,
  ],
  ['Checked', time(checkedAt)],
])}
<form method="get" action="${base}/audit"><button class="primary">Verify anew</button></form>
</section>`;
}

function row(base: string, { seq, at, actor, action, resource, outcome, lifecycle_id, hash }: AuditEntry): Html {
  return html`<li id="entry-${seq}">
<div class="head"><h3><span class="soft">${seq}</span> ${action}</h3> <span>${outcome}</span></div>
${facts([
  ['At', time(at)],
  ['Actor', actor],
  ['Resource', resource],
  ['Hash', code(hash)],
  [
    'Lifecycle',
    lifecycle_id === null
      ? undefined
      : html`<a href="${base}/lifecycles/${encodeURIComponent(lifecycle_id)}">${lifecycle_id}</a>`,
  ],
])}
</li>`;
}
