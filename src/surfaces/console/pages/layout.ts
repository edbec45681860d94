import { html, trusted, type Html } from '../../browser/html.js';
import { htmlPage } from '../../browser/layout.js';
import { sendPage } from '../../browser/send-page.js';
import { roleName } from '../../../auth/places.js';
import { isAdmin } from '../../../auth/principal.js';
import type { Visit } from '../visit.js';
import { liveScript } from './live-script.js';
import { consoleStyle } from './style.js';

export interface ConsolePage {
  title: string;
  content: Html;
  /** How often the script refreshes the page; undefined if nothing changes automatically. */
  refreshSeconds?: number;
}

/** Sends a page of a project within the common frame. */
export function send(visit: Visit, page: ConsolePage): void {
  const isLive = page.refreshSeconds !== undefined;
  sendPage(visit.res, frame(visit, page), { style: consoleStyle, ...(isLive && { script: liveScript }) });
}

/** The pages on which this person may see something. */
function entriesFor(visit: Visit): readonly [path: string, name: string][] {
  const all: [string, string, boolean][] = [
    ['', 'Overview', true],
    ['/executions', 'Executions', visit.permits('get', '/{projectID}/execution_flows')],
    ['/approvals', 'Approvals', true],
    ['/lifecycles', 'Lifecycles', true],
    ['/schedules', 'Schedules', visit.permits('get', '/schedule/coworker')],
    ['/audit', 'Audit', isAdmin(visit.principal)],
    ['/apps', 'Connected apps', true],
  ];
  return all.filter(([, , offered]) => offered).map(([path, name]) => [path, name]);
}

function frame(visit: Visit, { title, content, refreshSeconds }: ConsolePage): Html {
  const { base, place, person, csrf, req } = visit;
  const here = req.originalUrl
    .replace(/[?#].*$/s, '')
    .slice(base.length)
    .replace(/\/$/, '');
  const current = (path: string) => (path === '' ? here === '' : here === path || here.startsWith(`${path}/`));
  const body = html`<body class="console"${refreshSeconds !== undefined && html` data-refresh="${refreshSeconds}"`}>
<a class="skip" href="#main">Skip to the content</a>
<header>
<div class="bar">
<p class="where"><a href="/console">Projects</a> <span aria-hidden="true">›</span> <strong><bdi>${place.project}</bdi></strong> <span class="soft">of <bdi>${place.organization}</bdi></span></p>
<form method="post" action="/console/sign-out">
<input type="hidden" name="csrf_token" value="${csrf}">
<p class="who"><bdi>${person.email}</bdi>, ${roleName(place.role)}</p>
<button class="small">Sign out</button>
</form>
</div>
<nav aria-label="Console">
<ul>
${entriesFor(visit).map(([path, name]) => html`<li><a href="${base}${path}"${current(path) && html` aria-current="page"`}>${name}</a></li>`)}
</ul>
</nav>
</header>
<main id="main" tabindex="-1">
${content}
</main>
${refreshSeconds !== undefined && html`<script>${trusted(liveScript)}</script>`}
</body>`;
  return htmlPage(`${title} – ${place.project}`, consoleStyle, body);
}
