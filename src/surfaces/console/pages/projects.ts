import { manyChoices, roleNames, type ProjectChoices } from '../../../auth/project-choices.js';
import { html, type Html } from '../../browser/html.js';
import { layout } from '../../browser/layout.js';

interface ProjectsPage {
  email: string;
  csrf: string;
  choices: ProjectChoices;
  find: string;
}

export function projectsPage({ email, csrf, choices: { shown, total }, find }: ProjectsPage): Html {
  return layout(
    'Projects',
    html`<h1>Choose a project</h1>
<form class="account" method="post" action="/console/sign-out">
<input type="hidden" name="csrf_token" value="${csrf}">
<p>Signed in as <strong><bdi>${email}</bdi></strong></p>
<button class="small">Sign out</button>
</form>
${
  (total > manyChoices || find !== '') &&
  html`<form method="get" action="/console" role="search"><label for="find">Find a project by name</label>
<input id="find" name="find" type="search" maxlength="100" value="${find}"><p><button class="small">Find</button></p></form>`
}
${shown.length === 0 && html`<p class="note">${find === '' ? 'You are not a member of any project.' : 'None of your projects has this name.'}</p>`}
<ul>
${shown.map(
  (
    choice,
  ) => html`<li><p><a href="/console/projects/${encodeURIComponent(choice.projectId)}"><bdi>${choice.project}</bdi></a><br>
<span class="hint"><bdi>${choice.organization}</bdi>, <bdi>${choice.department}</bdi>. Your role: ${roleNames(choice.roles)}.</span></p></li>`,
)}
</ul>
${total > shown.length && html`<p class="hint">Showing the first ${shown.length} of ${total} projects.</p>`}`,
  );
}
