import type { Forward } from '../forward.js';
import type { Receiver } from '../receiver.js';
import { pathOf } from '../target.js';

/** Callbacks of providers: whoever sends them is checked downstream (specification, Authentication of callback receivers). */
const forwardedPaths = [
  { path: '/actions/professional_network/notify/{connectorID}/{pin}', summary: 'Hosted authentication of a professional network account' },
  { path: '/actions/mail/notify/{connectorID}/{pin}', summary: 'Hosted authentication of a mail account' },
  { path: '/actions/messaging/notify/{connectorID}/{pin}', summary: 'Hosted authentication of a messaging account' },
  { path: '/account-provider-webhook/{projectID}/{connectorID}', summary: 'Trigger events of a connected account' },
  { path: '/voice-provider/{triggerID}', summary: 'Callbacks of a voice provider' },
  { path: '/media-provider/{triggerID}', summary: 'Callbacks of a media provider' },
] as const;

export function forwardedReceivers(forward: Forward): Receiver[] {
  return forwardedPaths.map(({ path, summary }) => ({
    path,
    summary,
    handOver: ({ params, header, body }) => forward({ path: pathOf(path, params), contentType: header('content-type'), body }),
  }));
}
