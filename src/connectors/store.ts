import type { SecretBox } from '../auth/secret-box.js';
import { AppError, notFound } from '../errors.js';
import { newId } from '../ids.js';
import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/mongo.js';
import { epochSeconds } from '../time.js';
import { AccountConfig } from './config.js';
import { statusMoves, type ConnectorDocument, type ConnectorStatus, type TriggerDocument } from './connector.js';
import { hashPin, newPin } from './pin.js';

export type ConnectorCollections = Pick<Collections, 'connectors' | 'connector_triggers'>;

/** The account provider's API: its base URL and the bearer token for it. */
export interface AccountProvider {
  url: string;
  token: string | undefined;
}

export type NewConnectorRecord = Pick<
  ConnectorDocument,
  'category' | 'name' | 'table_id' | 'tags' | 'user_id' | 'projectID' | 'organization_id' | 'triggers' | 'data_loader_config' | 'actions' | 'status'
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

/**
 * The secrets of a connector; for those who call its provider, never for an answer.
 * @throws AppError `unconfigured` in a process that does not hold the key that they were sealed with
 */
export function openConfig(box: SecretBox, { _id, config_sealed }: ConnectorDocument): Record<string, unknown> {
  let text: string;
  try {
    text = box.open(config_sealed, configPurpose(_id));
  } catch {
    throw new AppError('unconfigured', 'the configuration of the connector cannot be opened with the SECRETS_KEY of this process');
  }
  return JSON.parse(text) as Record<string, unknown>;
}

/** Undefined where none is configured. */
export function accountProviderOf(box: SecretBox, connector: ConnectorDocument): AccountProvider | undefined {
  const { account_api_url: url, account_api_token: token } = AccountConfig.safeParse(openConfig(box, connector)).data ?? {};
  return url === undefined ? undefined : { url, token };
}

/** What a callback found out; a connector that somebody paused meanwhile stays paused. */
export async function setConnectorStatus(
  { connectors }: ConnectorCollections,
  id: string,
  status: ConnectorStatus,
  account?: ConnectorDocument['account'],
): Promise<void> {
  const $set = { status, updated_at: epochSeconds(), ...(account === undefined ? {} : { account }) };
  await connectors.updateOne({ _id: id, is_deleted: false, status: { $ne: 'paused' } }, { $set });
}

/** @throws AppError `conflict` that names the present status, where no such move is allowed from it */
export function refuseMove({ status }: ConnectorDocument, to: ConnectorStatus): void {
  if (statusMoves[status].includes(to)) return;
  throw new AppError('conflict', `the connector is ${status}: from there it can be set to ${statusMoves[status].join(', ')}`);
}

/** @throws AppError `conflict` when the connector is no longer as it was read, `not_found` when it is gone */
export async function moveConnector(collections: ConnectorCollections, { _id, status }: ConnectorDocument, to: ConnectorStatus): Promise<ConnectorDocument> {
  const $set = { status: to, updated_at: epochSeconds() };
  const moved = await collections.connectors.findOneAndUpdate({ _id, status, is_deleted: false }, { $set }, { returnDocument: 'after' });
  if (moved) return moved;
  const present = await findConnector(collections, _id);
  if (!present) throw notFound('the connector');
  throw new AppError('conflict', `the connector became ${present.status} meanwhile`);
}

/** Takes secrets, pin and triggers away with it; a repeat changes nothing. */
export async function eraseConnector({ connectors, connector_triggers }: ConnectorCollections, id: string): Promise<void> {
  await connectors.updateOne({ _id: id }, { $set: { is_deleted: true, config_sealed: '', pin_hash: '', pin_sealed: '', updated_at: epochSeconds() } });
  await connector_triggers.deleteMany({ connector_id: id });
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
