import { signInFields } from '../../auth/browser/sign-in.js';
import { html, type Html } from '../../http/pages/html.js';
import { layout, problemNote } from '../../http/pages/layout.js';

export interface SignInPage {
  csrf: string;
  /** The console's page that is gone on to. */
  next: string;
  email?: string;
  problem?: string;
}

export function signInPage({ csrf, next, email, problem }: SignInPage): Html {
  return layout(
    'Sign in to the console',
    html`<h1>Sign in to the console</h1>
${problemNote(problem)}
<form method="post" action="/console/sign-in">
<input type="hidden" name="csrf_token" value="${csrf}">
<input type="hidden" name="next" value="${next}">
${signInFields(email)}
<div class="actions"><button class="primary">Sign in</button></div>
</form>`,
  );
}
