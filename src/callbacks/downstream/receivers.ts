import type { ConnectorCallback, CoworkerStart } from '../../../workflows/connector-events/messages.js';
import type { ConnectorCategory, ConnectorDocument, ConnectorTrigger, TriggerDocument } from '../../connectors/connector.js';
import { livingProject } from '../../auth/standing.js';
import { isPin } from '../../connectors/pin.js';
import { findConnector, findTrigger, type ConnectorCollections } from '../../connectors/store.js';
import { notFound } from '../../errors.js';
import { newId } from '../../ids.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../time.js';
import { accepted, ignored, type Delivery, type Receiver } from '../receiver.js';
import { fieldOf, readPayload } from './payload.js';
import type { SignalConnector } from './signal-connector.js';

export interface DownstreamOptions {
  collections: ConnectorCollections & Pick<Collections, 'projects'>;
  signal: SignalConnector;
}

/** The routes behind the six forwarded ones: each checks what no receiver did, and signals (contract, Downstream). */
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

function notify({ collections, signal }: DownstreamOptions, category: ConnectorCategory): Receiver {
  return {
    path: `/actions/${category}/notify/{connectorID}/{pin}`,
    summary: 'A finished hosted authentication',
    async handOver(delivery) {
      const { connectorID = '', pin = '' } = delivery.params;
      const found = await findConnector(collections, connectorID);
      const connector = found?.category === category ? found : null;
      // An unknown connector and a wrong pin are alike in answer and time.
      if (!isPin(pin, connector?.pin_hash) || !connector || !(await takesCallbacks(collections, connector))) throw notFound('connector');
      await signal(addressOf(connector), callbackOf('notify', delivery, () => []));
      return accepted(200);
    },
  };
}

function accountEvent({ collections, signal }: DownstreamOptions): Receiver {
  return {
    path: '/account-provider-webhook/{projectID}/{connectorID}',
    summary: 'An event of a connected account',
    async handOver(delivery) {
      const { connectorID = '', projectID } = delivery.params;
      const connector = await findConnector(collections, connectorID);
      if (!connector || connector.projectID !== projectID || !(await takesCallbacks(collections, connector))) throw notFound('connector');
      const callback = callbackOf('event', delivery, (event) => startsOf(connector, event));
      if (callback.starts.length === 0) return ignored(200, 'no trigger of the connector takes this event');
      await signal(addressOf(connector), callback);
      return accepted();
    },
  };
}

function triggerCallback({ collections, signal }: DownstreamOptions, kind: TriggerDocument['kind']): Receiver {
  return {
    path: `/${kind}-provider/{triggerID}`,
    summary: `A callback of a ${kind} provider`,
    async handOver(delivery) {
      const trigger = await findTrigger(collections, kind, delivery.params.triggerID ?? '');
      const connector = trigger?.connector_id ? await findConnector(collections, trigger.connector_id) : trigger;
      if (!trigger || !connector || !(await takesCallbacks(collections, connector))) throw notFound('trigger');
      const id = trigger.connector_id ?? trigger._id;
      const start = startOf(trigger, trigger.agentflow_id, trigger.goal ?? `Handle a callback of the ${kind} provider`);
      await signal({ ...trigger, id }, callbackOf(kind, delivery, () => [start]));
      return accepted();
    },
  };
}

/** A paused connector takes none, and nothing of a project that was deleted does. */
async function takesCallbacks(collections: DownstreamOptions['collections'], connector: ConnectorDocument | TriggerDocument): Promise<boolean> {
  const isPaused = 'status' in connector && connector.status === 'paused';
  return !isPaused && (await livingProject(collections, connector.projectID)) !== undefined;
}

const eventNames = ['event', 'event_type', 'eventType', 'type'];
const eventIdNames = ['event_id', 'eventId', 'webhook_id', 'delivery_id'];
const accountIdNames = ['account_id', 'accountId', 'account'];

function callbackOf(kind: ConnectorCallback['kind'], { header, body }: Delivery, starts: (event: string) => CoworkerStart[]): ConnectorCallback {
  const payload = readPayload(header('content-type'), body);
  const event = fieldOf(payload, eventNames) ?? kind;
  return {
    callback_id: newId(),
    event_id: fieldOf(payload, eventIdNames),
    kind,
    event,
    received_at: epochSeconds(),
    payload,
    account_id: kind === 'notify' ? fieldOf(payload, accountIdNames) : null,
    starts: starts(event),
  };
}

/** Triggers of voice and media providers are called back at paths of their own. */
function startsOf(connector: ConnectorDocument, event: string): CoworkerStart[] {
  const takes = ({ kind, event: wanted }: ConnectorTrigger) => kind !== 'voice' && kind !== 'media' && (wanted === '*' || wanted === event);
  return connector.triggers.filter(takes).flatMap(({ agentflow_id, goal }) => {
    return agentflow_id === undefined ? [] : [startOf(connector, agentflow_id, goal ?? `Handle the event ${event} of ${connector.name}`)];
  });
}

function startOf({ projectID, organization_id, user_id }: ConnectorDocument | TriggerDocument, agentflow_id: string, goal: string): CoworkerStart {
  return { execution_id: newId(), agentflow_id, goal, organization_id, project_id: projectID, user_id };
}

function addressOf({ _id, projectID, organization_id }: ConnectorDocument) {
  return { id: _id, projectID, organization_id };
}
