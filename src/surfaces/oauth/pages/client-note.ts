import { isDocumentAddress, type OauthClientDocument } from '../../../auth/oauth/clients.js';
import { isLoopback, redirectHost } from '../../../auth/oauth/redirect-uri.js';
import { html, type Html } from '../../browser/html.js';

export type ShownClient = Pick<OauthClientDocument, '_id' | 'client_name'>;

/** Returns the name that the app claims or, without a name, the host of its metadata document. */
export function clientName({ _id, client_name }: ShownClient): string {
  if (client_name !== '') return client_name;
  return isDocumentAddress(_id) ? new URL(_id).host : 'An app without a name';
}

/**
 * Describes what is known about the client. Anybody can register any name, but the URL of a metadata document is
 * verified.
 */
export function clientNote(client: ShownClient, redirectUri: string): Html {
  const goal = html`<p>Afterwards you are sent to <strong>${redirectHost(redirectUri)}</strong>.</p>`;
  const caution = isLoopback(redirectUri)
    ? 'Any app on this device can send this request.'
    : 'Anyone can register an app under any name.';
  if (isDocumentAddress(client._id)) {
    return html`<p>The app is identified by <strong>${new URL(client._id).host}</strong>.</p>
${goal}
<p class="note">Nobody has checked what it does. ${isLoopback(redirectUri) && caution} Go on only if you have just started this from the app yourself.</p>`;
  }
  return html`${goal}
<p class="note"><strong>Not verified.</strong> ${caution} Go on only if you have just started this from the app yourself.</p>`;
}
