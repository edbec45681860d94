import type { ConnectorCallback } from '../../../../workflows/connector-events/messages.js';
import type {
  ConnectorCategory,
  ConnectorDocument,
  ConnectorTrigger,
  TriggerDocument,
} from '../../../domain/connectors/record.js';
import type { MakerStores } from '../../../auth/authority.js';
import { findActiveProject } from '../../../auth/project-roles.js';
import { isPin } from '../../../domain/connectors/pin.js';
import {
  findConnector,
  findTrigger,
  pauseIfPowerless,
  type ConnectorCollections,
} from '../../../domain/connectors/operations/store.js';
import { AppError, notFound } from '../../../errors.js';
import type { Collections } from '../../../stores/collections.js';
import { epochSeconds } from '../../../time.js';
import type { ReadBody } from '../read-body.js';
import { accepted, ignored, type Delivery, type Receiver } from '../receiver.js';

import type { EventIdentity, ReceivedCallback, SignalConnector } from '../../../domain/connectors/signal-connector.js';
import { sha256Hex } from '../../../sha256.js';

interface DownstreamOptions {
  collections: ConnectorCollections & MakerStores & Pick<Collections, 'projects' | 'agentflows'>;
  read: ReadBody;
  signal: SignalConnector;
}

/** The routes behind the six forwarded ones. Each makes the checks that no receiver made, then sends a signal. */
export function downstreamReceivers(options: DownstreamOptions): Receiver[] {
  return [
    notify(options, 'professional_network'),
    notify(options, 'mail'),
    notify(options, 'messaging'),
    accountEvent(options),
    triggerCallback(options, 'voice'),
    triggerCallback(options, 'media'),
  ];
}

function notify({ collections, read, signal }: DownstreamOptions, category: ConnectorCategory): Receiver {
  return {
    path: `/actions/${category}/notify/{connectorID}/{pin}`,
    summary: 'A finished hosted authentication',
    async handOver(delivery) {
      const { connectorID = '', pin = '' } = delivery.params;
      const found = await findConnector(collections, connectorID);
      const connector = found?.category === category ? found : null;
      // Give an unknown connector and a wrong pin the same response in the same time.
      if (!isPin(pin, connector?.pin_hash) || !connector || !(await takesCallbacks(collections, connector)))
        throw notFound('connector');
      await signal(addressOf(connector), { ...(await callbackOf(read, 'notify', delivery, true)), starts: [] });
      return accepted(200);
    },
  };
}

function accountEvent({ collections, read, signal }: DownstreamOptions): Receiver {
  return {
    path: '/account-provider-webhook/{projectID}/{connectorID}',
    summary: 'An event of a connected account',
    async handOver(delivery) {
      const { connectorID = '', projectID } = delivery.params;
      const connector = await findConnector(collections, connectorID);
      if (!connector || connector.projectID !== projectID || !(await takesCallbacks(collections, connector)))
        throw notFound('connector');
      const callback = await callbackOf(read, 'event', delivery, isVerified(connector));
      const taken = startsOf(connector, callback.event);
      if (taken.length === 0) return ignored('no trigger of the connector takes this event');
      const starts = await startable(collections, connector, taken);
      if (starts.length === 0) return ignored(cannotStart);
      await signal(addressOf(connector), { ...callback, starts });
      return accepted();
    },
  };
}

function triggerCallback({ collections, read, signal }: DownstreamOptions, kind: TriggerDocument['kind']): Receiver {
  return {
    path: `/${kind}-provider/{triggerID}`,
    summary: `A callback of a ${kind} provider`,
    async handOver(delivery) {
      const trigger = await findTrigger(collections, kind, delivery.params.triggerID ?? '');
      const connector = trigger && (await findConnector(collections, trigger.connector_id));
      if (!connector || !(await takesCallbacks(collections, connector))) throw notFound('trigger');
      const { agentflow_id, goal } = connector.triggers.find(({ trigger_id }) => trigger_id === trigger._id) ?? {};
      if (agentflow_id === undefined) throw notFound('trigger');
      const start = startOf(connector, agentflow_id, goal ?? `Handle a callback of the ${kind} provider`);
      const starts = await startable(collections, connector, [start]);
      if (starts.length === 0) throw new AppError('not_found', cannotStart);
      const callback = await callbackOf(read, kind, delivery, isVerified(connector));
      await signal(addressOf(connector), { ...callback, starts });
      return accepted();
    },
  };
}

/** Refuses callbacks for paused connectors, deleted projects and people who have left the project. */
async function takesCallbacks(
  collections: DownstreamOptions['collections'],
  connector: ConnectorDocument,
): Promise<boolean> {
  if (!(await findActiveProject(collections, connector.projectID))) return false;
  return connector.status !== 'paused' && !(await pauseIfPowerless(collections, connector));
}

type Start = ReceivedCallback['starts'][number];

const cannotStart = 'the agentflow of the trigger was deleted, is not active or has no agents';

/** Leaves out agentflows that cannot run. Otherwise, only the log of the workflow would show them. */
async function startable(
  { agentflows }: DownstreamOptions['collections'],
  { projectID }: ConnectorDocument,
  starts: readonly Start[],
): Promise<Start[]> {
  const ids = starts.map(({ agentflow_id }) => agentflow_id);
  const named = { _id: { $in: ids }, projectID, is_deleted: false, isActive: true, agents: { $ne: [] } };
  const found = await agentflows.find(named, { projection: { _id: 1 } }).toArray();
  const present = new Set(found.map(({ _id }) => _id));
  return starts.filter(({ agentflow_id }) => present.has(agentflow_id));
}

const day = 24 * 3600 * 1000;
/** Without an event id, an identical body within this time is a repeat; later it may be a new event. */
const repeatsWithinMs = 60_000;

/** Returns whether the forwarding receiver verified the sender. It verifies connectors with a secret. */
function isVerified({ callback_secret_sealed }: ConnectorDocument): boolean {
  return callback_secret_sealed !== undefined;
}

/**
 * Returns the identity of an event. The event id alone identifies it only if the sender is verified. Otherwise a forged
 * event could suppress the real one.
 */
function identityOf(
  kind: ConnectorCallback['kind'],
  eventId: string | null,
  digest: string,
  verified: boolean,
): EventIdentity | null {
  if (eventId !== null) return { key: sha256Hex(verified ? eventId : `${digest}/${eventId}`), keptForMs: day };
  return kind === 'notify' ? null : { key: `body/${digest}`, keptForMs: repeatsWithinMs };
}

async function callbackOf(
  read: ReadBody,
  kind: ConnectorCallback['kind'],
  { header, body }: Delivery,
  verified: boolean,
): Promise<Omit<ReceivedCallback, 'starts'>> {
  const { digest, payload, stored, event_id, account_id, ...found } = await read('readPayload', {
    body,
    contentType: header('content-type'),
  });
  return {
    identity: identityOf(kind, event_id, digest, verified),
    event_id,
    kind,
    event: found.event ?? kind,
    received_at: epochSeconds(),
    payload,
    stored,
    account_id: kind === 'notify' ? account_id : null,
  };
}

/** Returns the agentflows that an event starts. Providers of voice and media call their triggers at separate paths. */
function startsOf(connector: ConnectorDocument, event: string): Start[] {
  const takes = ({ kind, event: triggerEvent }: ConnectorTrigger) =>
    kind !== 'voice' && kind !== 'media' && (triggerEvent === '*' || triggerEvent === event);
  return connector.triggers.filter(takes).flatMap(({ agentflow_id, goal }) => {
    return agentflow_id === undefined
      ? []
      : [startOf(connector, agentflow_id, goal ?? `Handle the event ${event} of ${connector.name}`)];
  });
}

function startOf(
  { projectID, organization_id, user_id }: ConnectorDocument,
  agentflow_id: string,
  goal: string,
): Start {
  return { agentflow_id, goal, organization_id, project_id: projectID, user_id };
}

function addressOf({ _id, projectID, organization_id }: ConnectorDocument) {
  return { id: _id, projectID, organization_id };
}
