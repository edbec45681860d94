import { shownUserCode, type DeviceRequestDocument } from '../../../auth/oauth/device-requests.js';
import type { ProjectChoice, ProjectChoices } from '../../../auth/project-choices.js';
import { html, type Html } from '../../browser/html.js';
import { layout, problemNote } from '../../browser/layout.js';
import { signInFields } from '../../browser/sign-in.js';
import { projectPicker } from './project-picker.js';

/** What all pages need: the address of the page, to which its forms are sent, and the CSRF secret. */
interface Form {
  page: string;
  csrf: string;
}

const caution = html`<p class="note">Go on only if you have just run <code>gcs login</code> yourself. If somebody sent you a code or a link to this page, close it: they would get access to your project.</p>`;

export function deviceSignInPage({ page, csrf }: Form, failure?: { email: string; problem: string }): Html {
  return layout(
    'Sign in to connect gcs',
    html`<h1>Sign in to connect gcs</h1>
${problemNote(failure?.problem)}
<p>The command line tool <strong>gcs</strong> asks for an API key. Sign in to see what it asks for; nothing is allowed yet.</p>
${caution}
<form method="post" action="${page}">
<input type="hidden" name="csrf_token" value="${csrf}">
${signInFields(failure?.email)}
<div class="actions"><button class="primary" name="action" value="sign-in">Sign in</button></div>
</form>`,
  );
}

export function enterCodePage(form: Form & { email: string; problem: string | undefined }): Html {
  return layout(
    'Enter the code of gcs',
    html`<h1>Enter the code of gcs</h1>
${problemNote(form.problem)}
${caution}
${account(form)}
<form method="post" action="${form.page}">
<input type="hidden" name="csrf_token" value="${form.csrf}">
<label for="user_code">Code that your terminal shows</label>
<input id="user_code" name="user_code" type="text" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20" required aria-describedby="code-hint">
<p class="hint" id="code-hint">Eight letters, such as WDJB-MJHT.</p>
<div class="actions"><button class="primary" name="action" value="enter">Continue</button></div>
</form>`,
  );
}

interface ConfirmPage extends Form {
  email: string;
  request: DeviceRequestDocument;
  choices: ProjectChoices;
  find: string;
  /** Undefined if the person may create keys nowhere. */
  picked: ProjectChoice | undefined;
  /** The present time in epoch seconds. */
  now: number;
  keyDays: number;
  problem: string | undefined;
}

export function confirmDevicePage(view: ConfirmPage): Html {
  const { request, picked } = view;
  return layout(
    'Connect gcs?',
    html`<h1>Connect gcs ${onDevice(request)}?</h1>
${problemNote(view.problem)}
<p>Your terminal must show this code:</p>
<p class="code">${shownUserCode(request.user_code)}</p>
<p>Asked ${ago(view.now - request.created_at)}, at ${timeOf(request.created_at)}, from the address <strong>${request.address}</strong>. ${request.device_name !== '' && html`The name <bdi>${request.device_name}</bdi> is what the device says about itself.`}</p>
${caution}
${account(view)}
<form method="post" action="${view.page}">
<input type="hidden" name="csrf_token" value="${view.csrf}">
${picked ? html`${projectPicker({ ...view, picked, button: 'Show this project' })}${whatItMayDo(view.keyDays)}` : noProject()}
<div class="actions">
${picked && html`<button class="primary" name="action" value="allow">Allow</button>`}
<button name="action" value="deny">Deny</button>
</div>
</form>`,
  );
}

/** The page after the answer, which also the person who opens the address again sees. */
export function answeredDevicePage(request: DeviceRequestDocument): Html {
  if (request.answer === 'denied')
    return layout(
      'Denied',
      html`<h1>Denied</h1>
<p>gcs ${onDevice(request)} gets no access. You can close this page.</p>`,
    );
  return layout(
    'gcs is connected',
    html`<h1>gcs ${onDevice(request)} is connected</h1>
<p>It has an API key of the project now. You can close this page and go on in your terminal.</p>
<p>The key is listed on the page <em>API keys</em> of the project, where you can revoke it.</p>`,
  );
}

export function deviceErrorPage(description: string): Html {
  return layout(
    'gcs cannot be connected now',
    html`<h1>gcs cannot be connected now</h1>
${problemNote(description)}
<p>Nothing was allowed. You can open the address that your terminal shows again.</p>`,
  );
}

function account({ page, csrf, email }: Form & { email: string }): Html {
  return html`<form class="account" method="post" action="${page}">
<input type="hidden" name="csrf_token" value="${csrf}">
<p>Signed in as <strong><bdi>${email}</bdi></strong></p>
<button class="small" name="action" value="sign-out">Use another account</button>
</form>`;
}

function whatItMayDo(keyDays: number): Html {
  return html`<p>gcs gets an API key of this project. It acts in your name for ${keyDays} days, or until somebody revokes the key, and may:</p>
<ul>
<li>read all resources of the project, such as agentflows, runs, tables and files</li>
<li>change and delete them, publish and promote releases</li>
<li>start and steer runs, which use credits</li>
</ul>`;
}

function noProject(): Html {
  return html`<p class="problem">You may not create API keys on any project. This takes the role owner, org admin or project admin: ask an administrator of your project for the role or for a key.</p>`;
}

function onDevice({ device_name }: DeviceRequestDocument): Html {
  return device_name === '' ? html`on an unnamed device` : html`on <bdi>${device_name}</bdi>`;
}

function timeOf(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function ago(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes < 1 ? 'less than a minute ago' : `${minutes} minute${minutes === 1 ? '' : 's'} ago`;
}
