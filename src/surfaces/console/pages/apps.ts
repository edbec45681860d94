import type { Page } from '../../../stores/lists.js';
import { html, type Html } from '../../browser/html.js';
import type { ConnectedAppView } from '../views.js';
import type { Visit } from '../visit.js';
import { code, facts, time } from './parts.js';

export interface AppsPage {
  own: Page<ConnectedAppView>;
  /** Undefined for a person who does not administer the project. */
  project: Page<ConnectedAppView> | undefined;
  names: ReadonlyMap<string, string>;
  done: boolean;
}

export function appsContent(visit: Visit, { own, project, names, done }: AppsPage): Html {
  return html`<h1>Connected apps</h1>
${done && html`<p class="done" role="status">The app was ended. Its tokens no longer work.</p>`}
<p>These apps may act for a person until they are ended here, or until the app does not come back for 30 days.</p>
<section aria-labelledby="own"><h2 id="own">Your apps</h2>
<p>On all of your projects.</p>
${list(visit, own, 'own', undefined)}</section>
${
  project &&
  html`<section aria-labelledby="project"><h2 id="project">Apps on this project</h2>
<p>Of everybody who works on it.</p>
${list(visit, project, 'project', names)}</section>`
}`;
}

function list(
  visit: Visit,
  { data, next_cursor }: Page<ConnectedAppView>,
  part: 'own' | 'project',
  names: AppsPage['names'] | undefined,
): Html {
  if (data.length === 0) return html`<p>No app is connected.</p>`;
  return html`<ul class="rows">${data.map((app) => row(visit, app, part, names))}</ul>
${next_cursor !== null && html`<p><a href="${visit.base}/apps?${part}=${encodeURIComponent(next_cursor)}">Older apps</a></p>`}`;
}

function row({ base, csrf }: Visit, app: ConnectedAppView, part: string, names: AppsPage['names'] | undefined): Html {
  const { id, client_id, client_name, user_id, project_id, scopes, created_at, last_used_at, expires_at } = app;
  return html`<li>
<h3 id="${part}-${id}"><bdi>${client_name === '' ? client_id : client_name}</bdi></h3>
${facts([
  ['Client', code(client_id)],
  ['Acts for', names && (names.get(user_id) ?? user_id)],
  ['Project', code(project_id)],
  ['May', scopes.join(' ')],
  ['Allowed', time(created_at)],
  ['Last used', last_used_at === null ? 'never' : time(last_used_at)],
  ['Ends by itself', time(expires_at)],
])}
<form method="post" action="${base}/apps/${id}"><input type="hidden" name="csrf_token" value="${csrf}">
<button class="danger small" aria-describedby="${part}-${id}">End this app</button></form>
</li>`;
}
