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
import { AppError, notFound } from '../../../base/errors.js';
import type { Collections } from '../../../stores/collections.js';
import { epochSeconds } from '../../../base/time.js';
import type { ReadBody } from '../read-body.js';
import { accepted, ignored, type Delivery, type Receiver } from '../receiver.js';

import type { ReceivedCallback, SignalConnector } from '../../../domain/connectors/signal-connector.js';
import { identityOf } from './identity.js';

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
      const { callback, eventBody } = await readingOf(read, 'notify', delivery, []);
      // The same account may be connected again later, and verifying it twice changes nothing.
      const identity = eventBody.isOneOfAKind ? identityOf(eventBody) : null;
      await signal(addressOf(connector), { ...callback, identity, starts: [] });
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
      const trusted = connector.callback_secret_sealed !== undefined;
      const reading = await readingOf(read, 'event', delivery, trusted ? connector.triggers : []);
      const taken = startsOf(connector, reading.callback.event);
      if (taken.length === 0) return ignored('no trigger of the connector takes this event');
      const starts = await startable(collections, connector, taken);
      if (starts.length === 0) return ignored(cannotStart);
      for (const event of eventsOf(reading, starts)) await signal(addressOf(connector), event);
      return accepted(200);
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
      const given = connector.triggers.find(({ trigger_id }) => trigger_id === trigger._id);
      if (given?.agentflow_id === undefined) throw notFound('trigger');
      const goal = given.goal ?? `Handle a callback of the ${kind} provider`;
      const start = startOf(connector, given.agentflow_id, goal, given.id_fields);
      const starts = await startable(collections, connector, [start]);
      if (starts.length === 0) throw new AppError('not_found', cannotStart);
      const reading = await readingOf(read, kind, delivery, [given]);
      for (const event of eventsOf(reading, starts)) await signal(addressOf(connector), event);
      return accepted(200);
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

/** One coworker that a callback starts, and the fields by which its trigger identifies an event. */
interface Start {
  coworker: ReceivedCallback['starts'][number];
  idFields: readonly string[] | undefined;
}

const cannotStart = 'the agentflow of the trigger was deleted, is not active or has no agents';

/** Leaves out agentflows that cannot run. Otherwise, only the log of the workflow would show them. */
async function startable(
  { agentflows }: DownstreamOptions['collections'],
  { projectID }: ConnectorDocument,
  starts: readonly Start[],
): Promise<Start[]> {
  const ids = starts.map(({ coworker }) => coworker.agentflow_id);
  // A run takes the release in production, whatever was saved since.
  const runs = [
    { 'channels.production': { $exists: true } },
    { agents: { $ne: [] } },
    { 'steps.0': { $exists: true } },
  ];
  const named = { _id: { $in: ids }, projectID, is_deleted: false, isActive: true, $or: runs };
  const found = await agentflows.find(named, { projection: { _id: 1 } }).toArray();
  const present = new Set(found.map(({ _id }) => _id));
  return starts.filter(({ coworker }) => present.has(coworker.agentflow_id));
}

/** A callback without what depends on a trigger. */
interface Reading {
  callback: Omit<ReceivedCallback, 'identity' | 'starts'>;
  eventBody: Parameters<typeof identityOf>[0];
  /** The values of the fields that identify the event, by the JSON of their names. */
  ids: ReadonlyMap<string, { fields: readonly string[]; values: readonly string[] }>;
}

/**
 * Reads the body. `triggers` are those whose `id_fields` count: with others, a forged event could suppress the real one.
 */
async function readingOf(
  read: ReadBody,
  kind: ConnectorCallback['kind'],
  { params, header, body }: Delivery,
  triggers: readonly ConnectorTrigger[],
): Promise<Reading> {
  const idFields = triggers.flatMap(({ id_fields }) => (id_fields ? [id_fields] : []));
  const { digest, isOneOfAKind, ids, payload, stored, account_id, event_id, event } = await read('readPayload', {
    body,
    contentType: header('content-type'),
    idFields,
  });
  const known = idFields.flatMap((fields, at) => {
    const values = ids[at];
    return values ? [[JSON.stringify(fields), { fields, values }] as const] : [];
  });
  return {
    callback: {
      event_id,
      kind,
      event: event ?? kind,
      received_at: epochSeconds(),
      payload,
      stored,
      account_id: kind === 'notify' ? account_id : null,
    },
    eventBody: { scope: params.triggerID ?? kind, digest, isOneOfAKind },
    ids: new Map(known),
  };
}

/** Returns one callback for each identity that the triggers give the event. */
function eventsOf({ callback, eventBody, ids }: Reading, starts: readonly Start[]): ReceivedCallback[] {
  const groups = new Map<string, ReceivedCallback>();
  for (const { coworker, idFields } of starts) {
    const id = idFields && ids.get(JSON.stringify(idFields));
    const identity = identityOf(eventBody, id);
    const event_id = id ? id.values.join('/') : callback.event_id;
    const group = groups.get(identity.key) ?? { ...callback, event_id, identity, starts: [] };
    group.starts.push(coworker);
    groups.set(identity.key, group);
  }
  return [...groups.values()];
}

/** Returns the agentflows that an event starts. Providers of voice and media call their triggers at separate paths. */
function startsOf(connector: ConnectorDocument, event: string): Start[] {
  const takes = ({ kind, event: triggerEvent }: ConnectorTrigger) =>
    kind !== 'voice' && kind !== 'media' && (triggerEvent === '*' || triggerEvent === event);
  return connector.triggers.filter(takes).flatMap(({ agentflow_id, goal, id_fields }) => {
    return agentflow_id === undefined
      ? []
      : [startOf(connector, agentflow_id, goal ?? `Handle the event ${event} of ${connector.name}`, id_fields)];
  });
}

function startOf(
  { projectID, organization_id, user_id }: ConnectorDocument,
  agentflow_id: string,
  goal: string,
  idFields: readonly string[] | undefined,
): Start {
  return { coworker: { agentflow_id, goal, organization_id, project_id: projectID, user_id }, idFields };
}

function addressOf({ _id, projectID, organization_id }: ConnectorDocument) {
  return { id: _id, projectID, organization_id };
}
