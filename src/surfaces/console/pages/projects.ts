import { manyPlaces, roleName, type Place, type Places } from '../../../auth/places.js';
import type { QuotaUsage } from '../../../governance/quota/quota.js';
import { html, type Html } from '../../browser/html.js';
import { layout } from '../../browser/layout.js';
import { facts } from './parts.js';

export interface ProjectsPage {
  email: string;
  csrf: string;
  places: Places;
  find: string;
}

export function projectsPage({ email, csrf, places: { shown, total }, find }: ProjectsPage): Html {
  return layout(
    'Projects',
    html`<h1>Choose a project</h1>
<form class="account" method="post" action="/console/sign-out">
<input type="hidden" name="csrf_token" value="${csrf}">
<p>Signed in as <strong><bdi>${email}</bdi></strong></p>
<button class="small">Sign out</button>
</form>
${
  (total > manyPlaces || find !== '') &&
  html`<form method="get" action="/console" role="search"><label for="find">Find a project by its name</label>
<input id="find" name="find" type="search" maxlength="100" value="${find}"><p><button class="small">Find</button></p></form>`
}
${shown.length === 0 && html`<p class="note">${find === '' ? 'You have no role on any project.' : 'No project of yours has such a name.'}</p>`}
<ul>
${shown.map(
  (
    place,
  ) => html`<li><p><a href="/console/projects/${encodeURIComponent(place.projectId)}"><bdi>${place.project}</bdi></a><br>
<span class="hint"><bdi>${place.organization}</bdi>, <bdi>${place.department}</bdi>. Your role: ${roleName(place.role)}.</span></p></li>`,
)}
</ul>
${total > shown.length && html`<p class="hint">The first ${shown.length} of ${total} are listed.</p>`}`,
  );
}

export function projectContent(
  { project, organization, department, role }: Place,
  usage: QuotaUsage,
  windowSeconds: number,
): Html {
  return html`<h1><bdi>${project}</bdi></h1>
${facts([
  ['Organization', organization],
  ['Department', department],
  ['Your role', roleName(role)],
])}
<section aria-labelledby="quota">
<h2 id="quota">Quota</h2>
<p>Governed calls of the last ${windowSeconds} seconds, against the most that are admitted.</p>
<div data-part="quota" class="gauges">
${gauge('project', 'This project', usage.project_window_used, usage.project_window_max)}
${gauge('organization', 'Its organization', usage.org_window_used, usage.org_window_max)}
</div>
</section>`;
}

function gauge(id: string, name: string, used: number, max: number): Html {
  if (max === 0) return html`<p><strong>${name}</strong>: unlimited, not counted</p>`;
  return html`<div class="gauge"><label for="quota-${id}">${name}</label>
<meter id="quota-${id}" min="0" max="${max}" high="${Math.floor(max * 0.8)}" optimum="0" value="${used}" aria-describedby="quota-${id}-text">${used} of ${max}</meter>
<p id="quota-${id}-text">${used} of ${max} used, ${Math.max(0, max - used)} left</p></div>`;
}
