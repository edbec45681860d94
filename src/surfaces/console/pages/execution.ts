import { html, type Html } from '../../browser/html.js';
import { problemNote } from '../../browser/layout.js';
import type { ExecutionEvent } from '../../../../workflows/agentflow-execution/messages.js';
import type { ExecutionRun, ExecutionView, Step } from '../views.js';
import type { Visit } from '../visit.js';
import { badge, code, data, doneNote, duration, facts, time, words } from './parts.js';
import { waitingPreviews } from './previews.js';

export interface ExecutionPage {
  execution: ExecutionView;
  /** The person who started it. */
  by: string;
  /** Undefined if Temporal does not answer. */
  run: ExecutionRun | undefined;
  events: readonly ExecutionEvent[];
  moves: readonly ('pause' | 'resume' | 'cancel')[];
  /** Whether the person may decide on the waiting preview. */
  mayDecide: boolean;
  problem: string | undefined;
  done: string | undefined;
}

const doneTexts = new Map([
  ['pause', 'Asked to pause: it stops before its next step.'],
  ['resume', 'Resumed.'],
  ['cancel', 'Cancelled.'],
  ['approve', 'Your approval is recorded: the agent continues.'],
  ['reject', 'Your rejection is recorded: the execution ends.'],
]);

export function executionContent(
  visit: Visit,
  { execution, by, run, events, moves, mayDecide, problem, done }: ExecutionPage,
): Html {
  const { goal, status, conclusion, execution_context } = execution;
  const { failure } = execution_context;
  return html`<h1><bdi>${goal === '' ? 'Execution without a goal' : goal}</bdi></h1>
${problemNote(problem)}
${doneNote(doneTexts.get(done ?? ''))}
<div class="state"><p role="status" data-part="state"><span class="hidden">State: </span>${badge(status)}</p>
<div data-part="moves">${buttons(visit, execution, moves)}</div></div>
<div data-part="facts">${about(visit, execution, by, run)}</div>
<div data-part="previews">${waitingPreviews(visit, execution, mayDecide)}</div>
<div data-part="outcome">
${failure && html`<section aria-labelledby="failure"><h2 id="failure">Why it failed</h2><p class="problem">${words(failure.code)}: ${failure.message}</p></section>`}
${
  conclusion !== null &&
  html`<section aria-labelledby="conclusion"><h2 id="conclusion">Conclusion</h2>
<p class="text">${conclusion.conclusion}</p>
${conclusion.links.length > 0 && html`<ul>${conclusion.links.map((link) => html`<li>${link}</li>`)}</ul>`}</section>`
}
</div>
<section aria-labelledby="steps">
<h2 id="steps">Steps</h2>
<div data-part="steps">${timeline(execution, run)}</div>
</section>
<section aria-labelledby="events">
<h2 id="events">Events</h2>
<div data-part="events">${eventList(events)}</div>
</section>`;
}

function buttons(
  { base, csrf }: Visit,
  { execution_id: id }: ExecutionView,
  moves: ExecutionPage['moves'],
): Html | undefined {
  if (moves.length === 0) return undefined;
  const page = `${base}/executions/${id}`;
  const names = { pause: 'Pause', resume: 'Resume' } as const;
  return html`<div class="moves">${moves.map((move) =>
    move === 'cancel'
      ? html`<a class="button" id="cancel" href="${page}/cancel">Cancel…</a>`
      : html`<form method="post" action="${page}/${move}"><input type="hidden" name="csrf_token" value="${csrf}"><button class="primary" id="move">${names[move]}</button></form>`,
  )}</div>`;
}

function about({ base }: Visit, execution: ExecutionView, by: string, run: ExecutionRun | undefined): Html {
  const { execution_id, agentflow, created_at, end_time, parent_execution_id, execution_context } = execution;
  const { lifecycle_id } = execution_context;
  return facts([
    ['Agentflow', agentflow.name],
    ['Execution', code(execution_id)],
    ['Made', time(created_at)],
    ['Ended', end_time === null ? undefined : html`${time(end_time)}, after ${duration(end_time - created_at)}`],
    ['By', by],
    [
      'Part of',
      parent_execution_id === null
        ? undefined
        : html`<a href="${base}/executions/${parent_execution_id}">${parent_execution_id}</a>`,
    ],
    [
      'Lifecycle',
      lifecycle_id === undefined ? undefined : html`<a href="${base}/lifecycles/${lifecycle_id}">${lifecycle_id}</a>`,
    ],
    ['Run', runLink(run)],
  ]);
}

function runLink(run: ExecutionRun | undefined): Html | string {
  if (run === undefined) return 'the workflow service is not responding';
  if (run.temporal_ui_url === null) return 'not executed yet';
  return html`<a id="run" href="${run.temporal_ui_url}" rel="noreferrer">Open in the Temporal UI</a>`;
}

function timeline({ agentflow, status }: ExecutionView, run: ExecutionRun | undefined): Html {
  const steps = run?.steps ?? [];
  if (steps.length === 0)
    return html`<p class="note">${status === 'ready' ? 'It has not started.' : 'No step has started yet.'}</p>`;
  const titles = new Map(agentflow.agents.map(({ _id, title }) => [_id, title]));
  return html`<ol class="timeline">${steps.map((step) => stepRow(step, titles.get(step.agent_id) ?? step.agent_id))}</ol>`;
}

function stepRow({ kind, name, status, attempts, started_at, ended_at, error }: Step, agent: string): Html {
  return html`<li>
<div class="head"><h3><bdi>${name}</bdi></h3> ${badge(status)}</div>
<p class="soft">${words(kind)} of <bdi>${agent}</bdi>, ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}, began ${time(started_at)}${ended_at !== null && `, took ${duration(ended_at - started_at)}`}</p>
${error !== null && html`<p class="problem">${error}</p>`}
</li>`;
}

function eventList(events: readonly ExecutionEvent[]): Html {
  if (events.length === 0) return html`<p class="note">Nothing has happened yet.</p>`;
  const newest = [...events].reverse();
  return html`<ul class="rows events">${newest.map(
    ({ seq, type, at, data: detail }) => html`<li>
<details id="event-${seq}"><summary><span class="soft">${seq}</span> ${words(type)} <span class="soft">${time(at)}</span></summary>
${data(detail, `Event ${seq}`)}</details></li>`,
  )}</ul>`;
}
