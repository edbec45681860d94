import { signInFields } from '../../browser/sign-in.js';
import { clientName, clientNote, type ShownClient } from './client-note.js';
import { html, type Html } from '../../browser/html.js';
import { layout, problemNote } from '../../browser/layout.js';

interface SignInPage {
  client: ShownClient;
  redirectUri: string;
  page: string;
  csrf: string;
  email?: string;
  problem?: string;
}

export function signInPage({ client, redirectUri, page, csrf, email, problem }: SignInPage): Html {
  const name = clientName(client);
  return layout(
    `Sign in to continue to ${name}`,
    html`<h1>Sign in to continue to <bdi>${name}</bdi></h1>
${problemNote(problem)}
<p><bdi>${name}</bdi> asks to use this service in your name. Sign in to see what it asks for; nothing is allowed yet.</p>
${clientNote(client, redirectUri)}
<form method="post" action="${page}">
<input type="hidden" name="csrf_token" value="${csrf}">
${signInFields(email)}
<div class="actions">
<button class="primary" name="action" value="sign-in">Sign in</button>
<button name="action" value="deny" formnovalidate>Cancel</button>
</div>
</form>`,
  );
}
