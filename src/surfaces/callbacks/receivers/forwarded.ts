import type { Forward } from '../forward.js';
import type { SecretBox } from '../../../auth/secret-box.js';
import { callbackSecretOf, type ConnectorCollections } from '../../../domain/connectors/operations/store.js';
import { createFreshReads } from '../../../stores/fresh-reads.js';
import type { Delivery, Receiver } from '../receiver.js';
import { hubForm, verifySignature } from '../signature.js';
import { pathOf } from '../target.js';

/** The callbacks of providers. The downstream service checks their senders. */
const forwardedPaths = [
  {
    path: '/actions/professional_network/notify/{connectorID}/{pin}',
    summary: 'Hosted authentication of a professional network account',
  },
  { path: '/actions/mail/notify/{connectorID}/{pin}', summary: 'Hosted authentication of a mail account' },
  { path: '/actions/messaging/notify/{connectorID}/{pin}', summary: 'Hosted authentication of a messaging account' },
  { path: '/account-provider-webhook/{projectID}/{connectorID}', summary: 'Trigger events of a connected account' },
  { path: '/voice-provider/{triggerID}', summary: 'Callbacks of a voice provider' },
  { path: '/media-provider/{triggerID}', summary: 'Callbacks of a media provider' },
] as const;

interface ForwardedOptions {
  forward: Forward;
  collections: ConnectorCollections;
  box: SecretBox;
}

export function forwardedReceivers({ forward, collections, box }: ForwardedOptions): Receiver[] {
  const readTrigger = createFreshReads(collections.connector_triggers);
  const readConnector = createFreshReads(collections.connectors);

  async function connectorOf({ connectorID, triggerID }: Delivery['params']) {
    const trigger = triggerID === undefined ? null : await readTrigger(triggerID);
    const id = connectorID ?? trigger?.connector_id;
    const connector = id === undefined ? null : await readConnector(id);
    return connector && !connector.is_deleted ? { connector, kind: trigger?.kind } : null;
  }

  /** Before forwarding, because only `Content-Type` is forwarded. @throws AppError `invalid_signature` */
  async function verify({ params, header, body }: Delivery): Promise<void> {
    const found = await connectorOf(params);
    const secret = found ? callbackSecretOf(box, found.connector) : undefined;
    if (secret !== undefined) verifySignature(header('x-hub-signature-256'), hubForm, secret, body);
  }

  const registered = (path: string) => async (params: Delivery['params']) => {
    const found = await connectorOf(params);
    if (!found || found.connector.status === 'paused') return false;
    if (found.kind !== undefined) return path.startsWith(`/${found.kind}-provider/`);
    return found.connector.projectID === params.projectID;
  };

  return forwardedPaths.map(({ path, summary }) => ({
    path,
    summary,
    isOpen: true as const,
    isForwarded: true,
    ...(path.startsWith('/actions/') ? {} : { verify, isRegistered: registered(path) }),
    handOver: ({ params, header, body }) =>
      forward({ path: pathOf(path, params), contentType: header('content-type'), body }),
  }));
}
