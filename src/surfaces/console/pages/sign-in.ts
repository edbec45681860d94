import { signInFields } from '../../browser/sign-in.js';
import { html, type Html } from '../../browser/html.js';
import { layout, problemNote } from '../../browser/layout.js';

interface SignInPage {
  csrf: string;
  /** The console page to open after sign-in. */
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
