import type { SecretBox } from '../auth/secret-box.js';
import { newId } from '../ids.js';
import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/mongo.js';
import { epochSeconds } from '../time.js';
import { AccountProvider, type ConnectorDocument, type ConnectorStatus, type TriggerDocument } from './connector.js';
import { hashPin, newPin } from './pin.js';

export type ConnectorCollections = Pick<Collections, 'connectors' | 'connector_triggers'>;

export type NewConnectorRecord = Pick<
  ConnectorDocument,
  'category' | 'name' | 'tags' | 'user_id' | 'projectID' | 'organization_id' | 'triggers' | 'data_loader_config' | 'actions'
> & { config: Record<string, unknown> };

const configPurpose = (id: string) => `connector-config/${id}`;
const pinPurpose = (id: string) => `connector-pin/${id}`;

/** Stores a connector and issues its pin; a repeat with the same id answers the first, with the same pin. */
export async function createConnector(
  collections: ConnectorCollections,
  box: SecretBox,
  id: string,
  { config, ...given }: NewConnectorRecord,
): Promise<{ connector: ConnectorDocument; pin: string }> {
  const pin = newPin();
  const now = epochSeconds();
  const connector = await insertOnce<ConnectorDocument>(collections.connectors, {
    _id: id,
    ...given,
    config_names: Object.keys(config),
    config_sealed: box.seal(JSON.stringify(config), configPurpose(id)),
    pin_hash: hashPin(pin),
    pin_sealed: box.seal(pin, pinPurpose(id)),
    status: 'pending',
    account: null,
    is_deleted: false,
    created_at: now,
    updated_at: now,
  });
  return { connector, pin: box.open(connector.pin_sealed, pinPurpose(id)) };
}

export async function findConnector({ connectors }: ConnectorCollections, id: string): Promise<ConnectorDocument | null> {
  const connector = await connectors.findOne({ _id: id });
  return connector && !connector.is_deleted ? connector : null;
}

/** The secrets of a connector; for those who call its provider, never for an answer. */
export function openConfig(box: SecretBox, { _id, config_sealed }: ConnectorDocument): Record<string, unknown> {
  return JSON.parse(box.open(config_sealed, configPurpose(_id))) as Record<string, unknown>;
}

/** Undefined where none is configured. */
export function accountProviderOf(box: SecretBox, connector: ConnectorDocument): AccountProvider | undefined {
  return AccountProvider.safeParse(openConfig(box, connector)).data;
}

export async function setConnectorStatus(
  { connectors }: ConnectorCollections,
  id: string,
  status: ConnectorStatus,
  account?: ConnectorDocument['account'],
): Promise<void> {
  const $set = { status, updated_at: epochSeconds(), ...(account === undefined ? {} : { account }) };
  await connectors.updateOne({ _id: id, is_deleted: false }, { $set });
}

export type NewTrigger = Pick<TriggerDocument, 'kind' | 'projectID' | 'organization_id' | 'user_id' | 'connector_id' | 'agentflow_id' | 'goal'>;

/** A repeat with the same id answers the first. */
export async function createTrigger({ connector_triggers }: ConnectorCollections, given: NewTrigger, id = newId()): Promise<TriggerDocument> {
  return insertOnce<TriggerDocument>(connector_triggers, { _id: id, ...given, is_active: true, created_at: epochSeconds() });
}

export async function findTrigger({ connector_triggers }: ConnectorCollections, kind: TriggerDocument['kind'], id: string): Promise<TriggerDocument | null> {
  const trigger = await connector_triggers.findOne({ _id: id });
  return trigger && trigger.kind === kind && trigger.is_active ? trigger : null;
}
