import type { ProjectChoice, ProjectChoices } from '../../../auth/project-choices.js';
import { scopeTexts, type Scope } from '../../../auth/oauth/scopes.js';
import { clientName, clientNote, type ShownClient } from './client-note.js';
import { projectPicker } from './project-picker.js';
import { html, type Html } from '../../browser/html.js';
import { layout, problemNote } from '../../browser/layout.js';

interface ConsentPage {
  client: ShownClient;
  redirectUri: string;
  page: string;
  csrf: string;
  email: string;
  choices: ProjectChoices;
  find: string;
  picked: ProjectChoice | undefined;
  /** The scopes that the client requests and the person may grant on the picked project. */
  offered: readonly Scope[];
  withheld: readonly Scope[];
  checked: readonly Scope[];
  problem: string | undefined;
}

export function consentPage(view: ConsentPage): Html {
  const name = clientName(view.client);
  return layout(
    `Allow ${name}?`,
    html`<h1>Allow <bdi>${name}</bdi> to act for you?</h1>
${problemNote(view.problem)}
<p><bdi>${name}</bdi> asks to use this service in your name.</p>
${clientNote(view.client, view.redirectUri)}
<form class="account" method="post" action="${view.page}">
<input type="hidden" name="csrf_token" value="${view.csrf}">
<p>Signed in as <strong><bdi>${view.email}</bdi></strong></p>
<button class="small" name="action" value="sign-out">Use another account</button>
</form>
<form method="post" action="${view.page}">
<input type="hidden" name="csrf_token" value="${view.csrf}">
${view.picked ? html`${projectPicker({ ...view, picked: view.picked, button: 'Show what I can allow there' })}${scopePicker(view)}` : noProject()}
<div class="actions">
${view.offered.length > 0 && html`<button class="primary" name="action" value="allow">Allow</button>`}
<button name="action" value="deny">Deny</button>
</div>
</form>`,
  );
}

function noProject(): Html {
  return html`<p class="problem">You have no role on any project that fits, so there is nothing that you could allow.</p>`;
}

function scopePicker({ offered, withheld, checked }: ConsentPage): Html {
  return html`<fieldset>
<legend>What it may do there</legend>
${offered.length > 0 && html`<p class="hint">Uncheck what you do not want to allow.</p>`}
${offered.map((scope) => scopeBox(scope, checked.includes(scope)))}
</fieldset>
${
  withheld.length > 0 &&
  html`<p>${offered.length > 0 ? 'It also asked for this, which' : 'It asked for this, which'} your role there cannot give:</p>
<ul>${withheld.map((scope) => html`<li>${scopeTexts[scope].title}</li>`)}</ul>`
}
${offered.length > 0 && html`<p class="hint">What you allow ends when the app gives it back, when you lose your role there, or after 30 days without use.</p>`}`;
}

function scopeBox(scope: Scope, isChecked: boolean): Html {
  const { title, detail, changes } = scopeTexts[scope];
  const id = scope.replace(/[^a-z]/g, '-');
  return html`<div class="scope">
<input type="checkbox" id="${id}" name="scope" value="${scope}" aria-describedby="${changes && `${id}-tag `}${id}-detail"${isChecked && html` checked`}>
<div><div class="label-row"><label for="${id}">${title}</label>${changes && html`<span class="tag" id="${id}-tag">changes things</span>`}</div>
<p id="${id}-detail">${detail}</p></div>
</div>`;
}
