import type { Principal } from '../../../auth/principal.js';
import { retireMcpTokens } from '../../../auth/retire-mcp-tokens.js';
import { AppError, isRefusal, notFound } from '../../../base/errors.js';
import type { Collections } from '../../../stores/collections.js';
import { insertOnce } from '../../../stores/insert-once.js';
import type { Customers } from '../../customers/record.js';
import { premiumCategories, type CountedLimit } from '../../customers/rules.js';
import type { Deps } from '../../deps.js';
import { configProblems } from '../rules/config.js';
import { createLoadSchedules } from '../load-schedules.js';
import { isLoaded, type ConnectorCategory, type ConnectorDocument, type ConnectorTrigger } from '../record.js';
import type { NewConnector } from '../record/schemas.js';
import { deleteConnectorRecord, findConnector } from './store.js';

export type ConnectorDeps = Pick<Deps, 'mongo' | 'auth' | 'temporal' | 'customers'>;

/** @throws AppError `not_found` for an unknown, malformed or deleted id, and for a connector of another project */
export async function requireConnector(
  collections: Collections,
  principal: Principal,
  id: string,
): Promise<ConnectorDocument> {
  const connector = await findConnector(collections, id);
  if (!connector || connector.projectID !== principal.projectId) throw notFound('the connector');
  return connector;
}

/** Deletes the secrets, pin, triggers, data loader and tokens, and releases the quota. Tokens are revoked later. Idempotent. */
export async function deleteConnectorCompletely(
  deps: ConnectorDeps,
  { _id, category, organization_id }: ConnectorDocument,
): Promise<void> {
  await deleteConnectorRecord(deps.mongo.collections, _id);
  const { mcp_agreements, mcp_authorization_requests, mcp_oauth_clients, mcp_tools } = deps.mongo.collections;
  for (const each of [mcp_agreements, mcp_authorization_requests, mcp_oauth_clients, mcp_tools])
    await each.deleteMany({ connector_id: _id });
  await retireMcpTokens(deps.mongo.collections, { connector_id: _id });
  await loadSchedulesOf(deps).align(_id);
  await release(deps.customers, organization_id, category, _id);
}

export function loadSchedulesOf({ mongo: { collections }, temporal }: ConnectorDeps) {
  return createLoadSchedules({ collections, temporal });
}

type Given = Pick<NewConnector, 'config' | 'data_loader_config'> & {
  triggers: readonly ConnectorTrigger[];
  /** Null removes the present secret, and undefined keeps it. */
  callback_secret?: string | null | undefined;
};

/** @throws AppError `invalid_request`. `present` is the connector before the change. */
export async function refuseInvalidConfig(
  { actions, agentflows }: Collections,
  { projectId }: Principal,
  category: ConnectorCategory,
  { config, data_loader_config: loader, triggers, callback_secret }: Given,
  present?: ConnectorDocument,
): Promise<void> {
  const problems = configProblems(category, config);
  const isSigned =
    callback_secret === undefined ? present?.callback_secret_sealed !== undefined : callback_secret !== null;
  if (!isSigned && triggers.some((trigger) => trigger.id_fields !== undefined && !isCallbackKind(trigger.kind)))
    problems.push('triggers: id_fields require a callback_secret, because a forged id would suppress the real event');
  if (isLoaded({ data_loader_config: loader })) {
    const cannotLoad = category === 'mail' || category === 'mcp';
    if (cannotLoad) problems.push(`data_loader_config: is not supported for ${category} connectors`);
    if (!cannotLoad && loader.action_id === undefined && loader.path === undefined)
      problems.push('data_loader_config: requires path or action_id');
    if (category === 'restful' && config.base_url === undefined)
      problems.push('config.base_url: is required to load data');
  }
  if (loader.action_id !== undefined) {
    const action = await actions.findOne({ _id: loader.action_id });
    if (action?.projectID !== projectId || action.category !== category)
      problems.push(
        `data_loader_config.action_id: the project has no ${category} action ${JSON.stringify(loader.action_id)}`,
      );
  }
  // A present trigger may remain after its agentflow was deleted, so that the others can be changed.
  const known = new Set(present?.triggers.map(({ agentflow_id }) => agentflow_id));
  const ids = [...new Set(triggers.flatMap(({ agentflow_id }) => agentflow_id ?? []))].filter((id) => !known.has(id));
  const usable = { _id: { $in: ids }, projectID: projectId, is_deleted: false };
  const found = await agentflows.find(usable, { projection: { _id: 1 } }).toArray();
  for (const id of ids)
    if (!found.some(({ _id }) => _id === id))
      problems.push(`triggers: the project has no agentflow ${JSON.stringify(id)}`);
  if (problems.length > 0) throw new AppError('invalid_request', problems.join('; '));
}

function limitsOf(category: ConnectorCategory): CountedLimit[] {
  return premiumCategories.includes(category)
    ? ['number_of_connectors', 'number_of_premium_connectors']
    : ['number_of_connectors'];
}

/** Reserves the quota for the work. Releases it if the work is refused. After a fault, the record may exist, so the quota stays reserved for a repeat. */
export async function withinPlan<T>(
  customers: Customers,
  organizationId: string,
  category: ConnectorCategory,
  id: string,
  work: () => Promise<T>,
): Promise<T> {
  if (premiumCategories.includes(category)) await customers.requireFeature(organizationId, 'premium_connectors');
  try {
    for (const limit of limitsOf(category)) await customers.reserve(organizationId, limit, id);
    return await work();
  } catch (error) {
    if (isRefusal(error)) await release(customers, organizationId, category, id);
    throw error;
  }
}

async function release(
  customers: Customers,
  organizationId: string,
  category: ConnectorCategory,
  id: string,
): Promise<void> {
  for (const limit of limitsOf(category)) await customers.release(organizationId, limit, id);
}

const callbackKinds = ['voice', 'media'] as const;

/** Returns whether the provider calls triggers of this kind at paths of their own, which cannot be guessed. */
function isCallbackKind(kind: string | undefined): boolean {
  return callbackKinds.some((each) => each === kind);
}

/**
 * Stores a record for each voice or media trigger, by which a callback finds the connector. Its id is part of the callback
 * path and cannot be guessed. A repeat of the same request derives the same ids; a trigger that already has an id keeps it.
 */
export async function withTriggerRecords(
  { auth, mongo }: Pick<ConnectorDeps, 'auth' | 'mongo'>,
  { projectId: projectID }: Principal,
  connector_id: string,
  requestId: string,
  triggers: readonly ConnectorTrigger[],
): Promise<ConnectorTrigger[]> {
  const { connector_triggers } = mongo.collections;
  const present = await connector_triggers.find({ connector_id }).toArray();
  const kindOf = new Map(present.map(({ _id, kind }) => [_id, kind]));
  return Promise.all(
    triggers.map(async (trigger, at) => {
      const kind = callbackKinds.find((each) => each === trigger.kind);
      if (!kind || trigger.agentflow_id === undefined) return trigger;
      if (kindOf.get(trigger.trigger_id ?? '') === kind) return trigger;
      const trigger_id = auth.box.sign(`${requestId}/${at}`, 'trigger-id');
      await insertOnce(connector_triggers, { _id: trigger_id, kind, projectID, connector_id });
      return { ...trigger, trigger_id };
    }),
  );
}
