import { html, type Html } from '../../http/pages/html.js';
import type { ConsoleSchedule } from '../ports.js';
import { badge, code, facts, time, words } from './parts.js';

export function schedulesContent(schedules: readonly ConsoleSchedule[] | undefined): Html {
  return html`<h1>Schedules</h1>
${schedules === undefined && html`<p class="note">This service keeps no schedules: executions are started by people and by calls.</p>`}
${schedules?.length === 0 && html`<p class="note">Nothing is scheduled in this project.</p>`}
${schedules !== undefined && schedules.length > 0 && html`<ul class="rows" data-part="list">${schedules.map(row)}</ul>`}`;
}

function row({ _id, goal, type, status, next, ui_link }: ConsoleSchedule): Html {
  return html`<li>
<div class="head"><h2><bdi>${goal}</bdi></h2> ${badge(status)}</div>
${facts([
  ['Kind', words(type)],
  ['Schedule', code(_id)],
  ['Next runs', next.length === 0 ? 'none' : html`<ol class="plain">${next.map((at) => html`<li>${time(at)}</li>`)}</ol>`],
])}
<p><a href="${ui_link}" rel="noreferrer">Open in the Temporal UI<span class="hidden">: ${goal}</span></a></p>
</li>`;
}
