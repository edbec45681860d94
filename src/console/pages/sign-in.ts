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
${problemNote(problem === undefined ? undefined : `${problem[0]?.toUpperCase()}${problem.slice(1)}.`)}
<form method="post" action="/console/sign-in">
<input type="hidden" name="csrf_token" value="${csrf}">
<input type="hidden" name="next" value="${next}">
<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="320" required value="${email ?? ''}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required>
<div class="actions"><button class="primary">Sign in</button></div>
</form>`,
  );
}
