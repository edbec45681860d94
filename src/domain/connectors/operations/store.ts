import type { SecretBox } from '../../../auth/secret-box.js';
import { authorityOf, whyPowerless, type Maker, type MakerStores } from '../../../auth/authority.js';
import type { Grant } from '../../../auth/grants.js';
import type { Principal } from '../../../auth/principal.js';
import { AppError, notFound } from '../../../base/errors.js';
import type { Collections } from '../../../stores/collections.js';
import { sha256Hex } from '../../../base/hash.js';
import { insertOnce } from '../../../stores/insert-once.js';
import { epochSeconds } from '../../../base/time.js';
import { AccountConfig } from '../rules/config.js';
import {
  isLoaded,
  statusMoves,
  type ConnectorDocument,
  type ConnectorStatus,
  type TriggerDocument,
} from '../record.js';
import { newPin } from '../pin.js';

export type ConnectorCollections = Pick<Collections, 'connectors' | 'connector_triggers'>;

/** The account provider's API: its base URL and the bearer token for it. */
export interface AccountProvider {
  url: string;
  token: string | undefined;
}

type NewConnectorRecord = Pick<
  ConnectorDocument,
  | 'category'
  | 'name'
  | 'table_id'
  | 'tags'
  | 'user_id'
  | 'authority'
  | 'projectID'
  | 'organization_id'
  | 'triggers'
  | 'data_loader_config'
  | 'actions'
  | 'status'
> & { config: Record<string, unknown>; callback_secret?: string | undefined };

const configPurpose = (id: string) => `connector-config/${id}`;
const callbackPurpose = (id: string) => `connector-callback/${id}`;
const pinPurpose = (id: string) => `connector-pin/${id}`;

/** Stores a connector and issues its pin. A repeat with the same id returns the first record and pin. */
export async function createConnector(
  collections: ConnectorCollections,
  box: SecretBox,
  id: string,
  { config, callback_secret, ...fields }: NewConnectorRecord,
): Promise<{ connector: ConnectorDocument; pin: string }> {
  const pin = newPin();
  const now = epochSeconds();
  const connector = await insertOnce<ConnectorDocument>(collections.connectors, {
    _id: id,
    ...fields,
    ...sealedConfig(box, id, config),
    ...(callback_secret !== undefined && { callback_secret_sealed: sealedCallbackSecret(box, id, callback_secret) }),
    pin_hash: sha256Hex(pin),
    pin_sealed: box.seal(pin, pinPurpose(id)),
    ...{ status_reason: null, account: null, is_deleted: false },
    created_at: now,
    updated_at: now,
  });
  return { connector, pin: box.open(connector.pin_sealed, pinPurpose(id)) };
}

/** The people who changed the configuration, with the caller. */
export function editsWith(
  { config_edits = [] }: Pick<ConnectorDocument, 'config_edits'>,
  { userId }: Pick<Principal, 'userId'>,
): NonNullable<ConnectorDocument['config_edits']> {
  return [...config_edits.filter(({ by }) => by !== userId), { by: userId, at: epochSeconds() }];
}

export function sealedConfig(
  box: SecretBox,
  id: string,
  config: Record<string, unknown>,
): Pick<ConnectorDocument, 'config_names' | 'config_sealed'> {
  return { config_names: Object.keys(config), config_sealed: box.seal(JSON.stringify(config), configPurpose(id)) };
}

export function sealedCallbackSecret(box: SecretBox, id: string, secret: string): string {
  return box.seal(secret, callbackPurpose(id));
}

/** Undefined if the connector has no secret. @throws Error if this process does not have the encryption key */
export function callbackSecretOf(
  box: SecretBox,
  { _id, callback_secret_sealed: sealed }: ConnectorDocument,
): string | undefined {
  return sealed === undefined ? undefined : box.open(sealed, callbackPurpose(_id));
}

export async function findConnector(
  { connectors }: ConnectorCollections,
  id: string,
): Promise<ConnectorDocument | null> {
  const connector = await connectors.findOne({ _id: id });
  return connector && !connector.is_deleted ? connector : null;
}

/**
 * Decrypts the configuration with its secrets. Use it to call the provider; never include it in a response.
 * @throws AppError `unconfigured` if this process does not have the encryption key
 */
export function openConfig(box: SecretBox, { _id, config_sealed }: ConnectorDocument): Record<string, unknown> {
  let text: string;
  try {
    text = box.open(config_sealed, configPurpose(_id));
  } catch {
    throw new AppError(
      'unconfigured',
      'the configuration of the connector cannot be decrypted with the SECRETS_KEY of this process',
    );
  }
  return JSON.parse(text) as Record<string, unknown>;
}

/** Undefined if none is configured. */
export function accountProviderOf(box: SecretBox, connector: ConnectorDocument): AccountProvider | undefined {
  const { account_api_url: url, account_api_token: token } =
    AccountConfig.safeParse(openConfig(box, connector)).data ?? {};
  return url === undefined ? undefined : { url, token };
}

/** Records the result of a callback. A connector that was paused in the meantime stays paused. */
export async function recordConnectorStatus(
  { connectors }: ConnectorCollections,
  id: string,
  status: ConnectorStatus,
  account?: ConnectorDocument['account'],
): Promise<void> {
  const $set = { status, updated_at: epochSeconds(), ...(account === undefined ? {} : { account }) };
  await connectors.updateOne({ _id: id, is_deleted: false, status: { $ne: 'paused' } }, { $set });
}

/** On whose behalf a connector acts. */
export function makerOf(connector: ConnectorDocument): Maker {
  const { user_id: userId, organization_id: organizationId, projectID: projectId, authority } = connector;
  return { userId, organizationId, projectId, authority };
}

/** Pauses the connector if its owner may not do what it is used for. @returns whether the owner may not */
export async function pauseIfPowerless(
  collections: ConnectorCollections & MakerStores,
  connector: ConnectorDocument,
  needs: readonly Grant[] = [],
): Promise<boolean> {
  const reason = await whyPowerless(collections, makerOf(connector), { what: 'connector', needs });
  if (reason === undefined) return false;
  await pauseConnector(collections, connector, `${reason}; the user who activates it becomes the owner`);
  return true;
}

/** @throws AppError `conflict` if the current status does not allow the change */
export function refuseMove({ status }: ConnectorDocument, to: ConnectorStatus): void {
  if (statusMoves[status].includes(to)) return;
  throw new AppError('conflict', `the connector is ${status}: it can only be set to ${statusMoves[status].join(', ')}`);
}

/** @throws AppError `conflict` if the status has changed since it was read, `not_found` if the connector was deleted */
export async function moveConnector(
  collections: ConnectorCollections & MakerStores,
  connector: ConnectorDocument,
  to: ConnectorStatus,
  by: Principal,
): Promise<ConnectorDocument> {
  const { _id, status } = connector;
  const needs = grantsOfUse(connector);
  const isTakenOver =
    to === 'active' &&
    (await whyPowerless(collections, makerOf(connector), { what: 'connector', needs })) !== undefined;
  const $set = {
    ...{ status: to, status_reason: null, updated_at: epochSeconds() },
    ...(isTakenOver && { user_id: by.userId, authority: authorityOf(by) }),
  };
  const moved = await collections.connectors.findOneAndUpdate(
    { _id, status, is_deleted: false },
    // Whoever activates triggers causes their runs.
    { $set, ...(to === 'active' && { $addToSet: { triggers_edited_by: by.userId } }) },
    { returnDocument: 'after' },
  );
  if (moved) return moved;
  const present = await findConnector(collections, _id);
  if (!present) throw notFound('the connector');
  throw new AppError('conflict', `the status of the connector changed to ${present.status} in the meantime`);
}

/** The grants that its triggers and its data loader use. */
function grantsOfUse(connector: ConnectorDocument): Grant[] {
  return [
    ...(connector.triggers.some(({ agentflow_id }) => agentflow_id !== undefined) ? (['svc:agent.run'] as const) : []),
    ...(isLoaded(connector) ? (['svc:ontology.write'] as const) : []),
  ];
}

/** Stops all use of the connector until a user activates it, unless it has another owner by now. */
async function pauseConnector(
  { connectors }: Pick<Collections, 'connectors'>,
  { _id, user_id, authority }: ConnectorDocument,
  reason: string,
): Promise<void> {
  const owner = {
    user_id,
    'authority.key_id': authority.key_id ?? null,
    'authority.grant_id': authority.grant_id ?? null,
  };
  await connectors.updateOne(
    { _id, ...owner, is_deleted: false },
    { $set: { status: 'paused', status_reason: reason, updated_at: epochSeconds() } },
  );
}

/** Marks the connector as deleted and erases its secrets, pin and triggers. Idempotent. */
export async function deleteConnectorRecord(
  { connectors, connector_triggers }: ConnectorCollections,
  id: string,
): Promise<void> {
  await connectors.updateOne(
    { _id: id },
    {
      $set: { is_deleted: true, config_sealed: '', pin_hash: '', pin_sealed: '', updated_at: epochSeconds() },
      $unset: { callback_secret_sealed: '' },
    },
  );
  await connector_triggers.deleteMany({ connector_id: id });
}

export async function findTrigger(
  { connector_triggers }: ConnectorCollections,
  kind: TriggerDocument['kind'],
  id: string,
): Promise<TriggerDocument | null> {
  const trigger = await connector_triggers.findOne({ _id: id });
  return trigger?.kind === kind ? trigger : null;
}
