import type { Page } from '../../../stores/lists.js';
import { html, type Html } from '../../browser/html.js';
import { ExecutionStatus, type ExecutionView } from '../views.js';
import { queryOf, type Visit } from '../visit.js';
import { badge, choices, duration, facts, filterForm, pager, time, words } from './parts.js';

export interface ExecutionsPage {
  page: Page<ExecutionView>;
  status: ExecutionStatus | undefined;
  /** The run of an execution in the Temporal UI. */
  uiLink(executionId: string): string;
}

const options = [
  { value: '', label: 'All' },
  ...ExecutionStatus.options.map((value) => ({ value, label: words(value) })),
];

export function executionsContent({ base, req }: Visit, { page, status, uiLink }: ExecutionsPage): Html {
  const action = `${base}/executions`;
  return html`<h1>Executions</h1>
${filterForm(action, choices('status', 'State', options, status ?? ''))}
<div data-part="list">
${page.data.length === 0 && html`<p class="note">${status === undefined ? 'Nothing was executed in this project yet.' : `No execution is ${status}.`}</p>`}
<ul class="rows">${page.data.map((execution) => row(action, execution, uiLink(execution.execution_id)))}</ul>
${pager(action, page, { status }, queryOf(req, 'cursor') === undefined)}
</div>`;
}

function row(
  action: string,
  { execution_id: id, goal, agentflow, status, created_at, end_time }: ExecutionView,
  uiLink: string,
): Html {
  return html`<li>
<div class="head"><h2><a id="open-${id}" href="${action}/${id}"><bdi>${goal === '' ? 'without a goal' : goal}</bdi></a></h2> ${badge(status)}</div>
${facts([
  ['Agentflow', agentflow.name],
  ['Made', time(created_at)],
  ['Ended', end_time === null ? undefined : html`${time(end_time)}, after ${duration(end_time - created_at)}`],
])}
${status !== 'ready' && html`<p><a id="run-${id}" href="${uiLink}" rel="noreferrer">Run in the Temporal UI<span class="hidden">: ${goal}</span></a></p>`}
</li>`;
}
