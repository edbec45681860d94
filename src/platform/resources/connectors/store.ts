import type { Principal } from '../../../auth/principal.js';
import { configProblems, isComplete } from '../../../connectors/config.js';
import { hostedCategories, isLoaded, type ConnectorCategory, type ConnectorDocument, type ConnectorStatus, type ConnectorTrigger } from '../../../connectors/connector.js';
import { createLoadSchedules } from '../../../connectors/load-schedules.js';
import { createConnector, createTrigger, eraseConnector, findConnector, moveConnector, refuseMove } from '../../../connectors/store.js';
import type { Customers } from '../../../customers/customers.js';
import { premiumCategories, type CountedLimit } from '../../../customers/plan.js';
import type { Deps } from '../../../deps.js';
import { AppError, isAppError, notFound } from '../../../errors.js';
import type { Collections } from '../../../stores/collections.js';
import { shown, type Connector, type NewConnector } from './schemas.js';

export type ConnectorDeps = Pick<Deps, 'mongo' | 'auth' | 'temporal' | 'customers'>;

/**
 * Stores a connector with its pin, triggers and data loader. One whose configuration is complete is active at once.
 * @throws AppError `invalid_request` (category, configuration, loader), `plan_limit`
 */
export async function configureConnector(deps: ConnectorDeps, principal: Principal, id: string, category: ConnectorCategory, body: NewConnector): Promise<Connector> {
  const { collections } = deps.mongo;
  const { org_id: _org, category: named = category, user_id: _user, projectID: _project, ...given } = body;
  if (named !== category) throw new AppError('invalid_request', 'category: path and body do not agree');
  await refuseUnusable(collections, principal, category, given);
  const status: ConnectorStatus = isComplete(category, given.config) ? 'active' : 'pending';
  const owner = { user_id: principal.userId, projectID: principal.projectId, organization_id: principal.organizationId };
  const { connector, pin } = await withinPlan(deps.customers, principal.organizationId, category, id, async () => {
    if (status === 'active' && isLoaded(given)) await loadsOf(deps).start({ _id: id, ...owner, data_loader_config: given.data_loader_config });
    const triggers = await Promise.all(given.triggers.map((trigger, at) => withRecord(collections, principal, id, trigger, at)));
    return createConnector(collections, deps.auth.box, id, { ...given, ...owner, triggers, category, status });
  });
  return { ...shown(connector), ...(hostedCategories.includes(category) ? { notify_path: `/actions/${category}/notify/${id}/${pin}` } : {}) };
}

/** @throws AppError `not_found`, alike for an unknown, malformed or deleted id and for one of another project */
export async function readConnector(collections: Collections, principal: Principal, id: string): Promise<ConnectorDocument> {
  const connector = await findConnector(collections, id);
  if (!connector || connector.projectID !== principal.projectId) throw notFound('the connector');
  return connector;
}

/** Answers the last record. A repeat finishes what a crash left, and is 404. */
export async function deleteConnector(deps: ConnectorDeps, principal: Principal, id: string): Promise<Connector> {
  const connector = await deps.mongo.collections.connectors.findOne({ _id: id });
  if (!connector || connector.projectID !== principal.projectId) throw notFound('the connector');
  await removeConnector(deps, connector);
  if (connector.is_deleted) throw notFound('the connector');
  return shown(connector);
}

/** Takes its secrets, pin, triggers, data loader and places of the plan away; a repeat changes nothing. */
export async function removeConnector(deps: ConnectorDeps, { _id, category, organization_id }: ConnectorDocument): Promise<void> {
  await eraseConnector(deps.mongo.collections, _id);
  await loadsOf(deps).align(_id);
  await release(deps.customers, organization_id, category, _id);
}

/** @throws AppError `conflict` for a move that the present status does not allow */
export async function setStatus(deps: ConnectorDeps, principal: Principal, id: string, status: ConnectorStatus): Promise<Connector> {
  const connector = await readConnector(deps.mongo.collections, principal, id);
  refuseMove(connector, status);
  if (status === 'active' && isLoaded(connector)) await loadsOf(deps).start(connector);
  const moved = await moveConnector(deps.mongo.collections, connector, status);
  if (status !== 'active' && isLoaded(connector)) await loadsOf(deps).align(id);
  return shown(moved);
}

function loadsOf({ mongo: { collections }, temporal }: ConnectorDeps) {
  return createLoadSchedules({ collections, temporal });
}

type Given = Pick<NewConnector, 'config' | 'data_loader_config'>;

async function refuseUnusable({ actions }: Collections, { projectId }: Principal, category: ConnectorCategory, { config, data_loader_config: loader }: Given): Promise<void> {
  const problems = configProblems(category, config);
  if (isLoaded({ data_loader_config: loader })) {
    if (category === 'mail') problems.push('data_loader_config: a mail server has no data to load');
    if (category !== 'mail' && loader.action_id === undefined && loader.path === undefined) problems.push('data_loader_config: needs a path or an action_id');
    if (category === 'restful' && config.base_url === undefined) problems.push('config.base_url: is needed to load data');
  }
  if (loader.action_id !== undefined) {
    const action = await actions.findOne({ _id: loader.action_id });
    if (action?.projectID !== projectId || action.category !== category) problems.push(`data_loader_config.action_id: there is no action ${JSON.stringify(loader.action_id)} of the category ${category}`);
  }
  if (problems.length > 0) throw new AppError('invalid_request', problems.join('; '));
}

function limitsOf(category: ConnectorCategory): CountedLimit[] {
  return premiumCategories.includes(category) ? ['number_of_connectors', 'number_of_premium_connectors'] : ['number_of_connectors'];
}

/** After a refusal the places are given back; after a fault nobody knows what was stored, and a repeat goes on with them. */
async function withinPlan<T>(customers: Customers, organizationId: string, category: ConnectorCategory, id: string, work: () => Promise<T>): Promise<T> {
  if (premiumCategories.includes(category)) await customers.requireFeature(organizationId, 'premium_connectors');
  try {
    for (const limit of limitsOf(category)) await customers.reserve(organizationId, limit, id);
    return await work();
  } catch (error) {
    if (isAppError(error) && error.status < 500) await release(customers, organizationId, category, id);
    throw error;
  }
}

async function release(customers: Customers, organizationId: string, category: ConnectorCategory, id: string): Promise<void> {
  for (const limit of limitsOf(category)) await customers.release(organizationId, limit, id);
}

const kinds = ['voice', 'media'] as const;

/** A trigger of a voice or media provider is called back by an id of its own. */
async function withRecord(collections: Collections, principal: Principal, connectorId: string, trigger: ConnectorTrigger, at: number): Promise<ConnectorTrigger> {
  const kind = kinds.find((each) => each === trigger.kind);
  if (!kind || trigger.agentflow_id === undefined) return trigger;
  const { userId, projectId, organizationId } = principal;
  const { agentflow_id, goal = null } = trigger;
  const given = { kind, connector_id: connectorId, agentflow_id, goal, user_id: userId, projectID: projectId, organization_id: organizationId };
  const { _id } = await createTrigger(collections, given, `${connectorId}-${at}`);
  return { ...trigger, trigger_id: _id };
}
