import { roleNames } from '../../../auth/project-choices.js';
import type { OpenInvitation } from '../../../domain/invitations/operations/accept.js';
import { html, type Html } from '../../browser/html.js';
import { layout, problemNote } from '../../browser/layout.js';

interface InvitationPage {
  csrf: string;
  token: string;
  invitation: OpenInvitation;
  name?: string;
  problem?: string;
}

export function invitationPage({ csrf, token, invitation, name = '', problem }: InvitationPage): Html {
  const { email, project, inviter, roles } = invitation;
  return layout(
    `Join ${project}`,
    html`<h1>Join <bdi>${project}</bdi></h1>
${problemNote(problem)}
<p><strong><bdi>${inviter}</bdi></strong> invites you to this project. Your role: ${roleNames(roles)}.</p>
<form method="post" action="/console/invitation">
<input type="hidden" name="csrf_token" value="${csrf}">
<input type="hidden" name="token" value="${token}">
<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" readonly value="${email}">
<label for="name">Your name</label>
<input id="name" name="name" type="text" autocomplete="name" maxlength="200" required value="${name}">
<label for="password">Password (at least 12 characters)</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="12" maxlength="1024" required>
<div class="actions"><button class="primary">Create account</button></div>
</form>`,
  );
}
