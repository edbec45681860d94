import type { Page } from '../../../stores/lists.js';
import { html, type Html } from '../../browser/html.js';
import { problemNote } from '../../browser/layout.js';
import type { ScheduleRunsView, ScheduleRunView, ScheduleView } from '../views.js';
import { queryOf, type Visit } from '../visit.js';
import { badge, code, doneNote, duration, facts, pager, time, words } from './parts.js';

export interface ScheduleRow {
  schedule: ScheduleView;
  /** Undefined while Temporal does not answer. */
  runs: ScheduleRunsView | undefined;
  uiLink: string;
}

const nextInList = 3;
const silent = 'the workflow service does not answer at the moment';

export function schedulesContent({ base, req }: Visit, page: Page<ScheduleView>, rows: readonly ScheduleRow[]): Html {
  const action = `${base}/schedules`;
  return html`<h1>Schedules</h1>
<div data-part="list">
${rows.length === 0 && html`<p class="note">Nothing is scheduled in this project.</p>`}
<ul class="rows">${rows.map((row) => listed(base, row))}</ul>
${pager(action, page, {}, queryOf(req, 'cursor') === undefined)}
</div>`;
}

function listed(base: string, { schedule, runs, uiLink }: ScheduleRow): Html {
  const { _id: id, goal, status, reason } = schedule;
  const [last] = runs?.data ?? [];
  return html`<li>
<div class="head"><h2><a id="open-${id}" href="${base}/schedules/${id}"><bdi>${goal.template}</bdi></a></h2> ${badge(status)}</div>
${facts([
  ['Times', timesOf(schedule)],
  ['Paused because', reason ?? undefined],
  ['Next runs', nextRuns(runs, nextInList)],
  [
    'Last run',
    last &&
      html`${time(last.scheduled_for)} ${badge(last.status)}${last.temporal_ui_url !== null && html` <a id="last-${id}" href="${last.temporal_ui_url}" rel="noreferrer">Last run in the Temporal UI<span class="hidden">: ${goal.template}</span></a>`}`,
  ],
])}
<p><a id="ui-${id}" href="${uiLink}" rel="noreferrer">Schedule in the Temporal UI<span class="hidden">: ${goal.template}</span></a></p>
</li>`;
}

export interface SchedulePage extends ScheduleRow {
  /** Of the two, the one that its state leaves open and the person may ask for. */
  move: 'pause' | 'resume' | undefined;
  problem: string | undefined;
  done: string | undefined;
}

const doneTexts = new Map([
  ['pause', 'Paused: nothing starts until it is resumed.'],
  ['resume', 'Resumed. What was planned meanwhile is not made up for.'],
]);

export function scheduleContent(visit: Visit, { schedule, runs, uiLink, move, problem, done }: SchedulePage): Html {
  const { _id, coworker_id, goal, status, reason, count, limit, overlap } = schedule;
  return html`<h1><bdi>${goal.template}</bdi></h1>
${problemNote(problem)}
${doneNote(doneTexts.get(done ?? ''))}
<div class="state"><p role="status" data-part="state"><span class="hidden">State: </span>${badge(status)}</p></div>
<div data-part="facts">${facts([
    ['Times', timesOf(schedule)],
    ['Paused because', reason ?? undefined],
    ['Runs so far', limit === null ? count : `${count}, planned runs end at ${limit}`],
    ['When one is due during another', words(overlap)],
    ['Agentflow', code(coworker_id)],
    ['Schedule', code(_id)],
    ['Temporal', html`<a id="schedule-ui" href="${uiLink}" rel="noreferrer">Schedule in the Temporal UI</a>`],
  ])}</div>
<div data-part="moves">${moveForm(visit, _id, move)}</div>
<section aria-labelledby="next"><h2 id="next">Next runs</h2>
<div data-part="next">${nextRuns(runs)}</div></section>
<section aria-labelledby="runs"><h2 id="runs">Runs</h2>
<div data-part="runs">${runList(visit, _id, runs)}</div></section>`;
}

function timesOf({ type, schedule, frequency }: ScheduleView): Html | string {
  if (type === 'once') return html`once, ${time(schedule)}`;
  if (typeof frequency === 'number') return `every ${duration(frequency)}`;
  return html`${code(frequency?.cron ?? '')} in ${frequency?.time_zone ?? 'UTC'}`;
}

function nextRuns(runs: ScheduleRunsView | undefined, most = Infinity): Html | string {
  if (runs === undefined) return silent;
  if (runs.next.length === 0) return 'none';
  return html`<ol class="plain">${runs.next.slice(0, most).map((at) => html`<li>${time(at)}</li>`)}</ol>`;
}

function moveForm({ base, csrf }: Visit, id: string, move: SchedulePage['move']): Html | undefined {
  if (move === undefined) return undefined;
  return html`<form method="post" action="${base}/schedules/${id}/${move}" class="narrow">
<input type="hidden" name="csrf_token" value="${csrf}">
${
  move === 'pause' &&
  html`<label for="reason">Reason (optional)</label>
<input id="reason" name="reason" type="text" maxlength="500" autocomplete="off">`
}
<div class="actions"><button class="primary" id="move">${move === 'pause' ? 'Pause' : 'Resume'}</button></div>
</form>`;
}

function runList(visit: Visit, id: string, runs: ScheduleRunsView | undefined): Html {
  if (runs === undefined) return html`<p class="note">Its runs are not known: ${silent}.</p>`;
  if (runs.data.length === 0) return html`<p class="note">Nothing was due yet.</p>`;
  return html`<ul class="rows">${runs.data.map((run, at) => runRow(visit.base, run, at))}</ul>
${pager(`${visit.base}/schedules/${id}`, runs, {}, queryOf(visit.req, 'cursor') === undefined)}`;
}

function runRow(
  base: string,
  { scheduled_for, started_at, ended_at, status, reason, executions, error, temporal_ui_url }: ScheduleRunView,
  at: number,
): Html {
  return html`<li>
<div class="head"><h3>${time(scheduled_for)}</h3> ${badge(status)}</div>
${facts([
  ['Why it did not fire', reason === null ? undefined : words(reason)],
  [
    'Ended',
    started_at === null || ended_at === null
      ? undefined
      : html`${time(ended_at)}, after ${duration(ended_at - started_at)}`,
  ],
  [
    'Executions',
    executions.length === 0
      ? undefined
      : html`<ul class="plain">${executions.map((execution) => executionLine(base, execution))}</ul>`,
  ],
])}
${error !== null && html`<p class="problem">${error}</p>`}
${temporal_ui_url !== null && html`<p><a id="run-${at}" href="${temporal_ui_url}" rel="noreferrer">Run in the Temporal UI<span class="hidden">: ${time(scheduled_for)}</span></a></p>`}
</li>`;
}

function executionLine(base: string, { execution_id: id, status, error }: ScheduleRunView['executions'][number]): Html {
  return html`<li>${badge(status)} ${id === null ? (error ?? 'was not made') : html`<a id="execution-${id}" href="${base}/executions/${id}">${id}</a>`}</li>`;
}
