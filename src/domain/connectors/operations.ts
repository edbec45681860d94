import { z } from 'zod';
import { AppError, notFound } from '../../base/errors.js';
import { textFacts, type Operation } from '../../governance/operations/operation.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import { epochSeconds } from '../../base/time.js';
import { authorityOf } from '../../auth/authority.js';
import { createConnectorRules } from '../caused-rules.js';
import { defineOperation, reads, writes } from '../operation.js';
import type { CallContext } from '../../governance/operations/call-context.js';
import { changedConfig, isComplete, secretsForAnotherServer } from './rules/config.js';
import { ProviderParams, requiredParams } from './params.js';
import { operations } from './rules/named-operations.js';
import { ConnectorCategory, ConnectorStatus, hostedCategories, isLoaded, type ConnectorDocument } from './record.js';
import {
  Connector,
  ConnectorPatch,
  NewConnector,
  NewMcpConnector,
  NewStatus,
  toConnector,
  TriggerAction,
} from './record/schemas.js';
import {
  deleteConnectorCompletely,
  loadSchedulesOf,
  refuseInvalidConfig,
  requireConnector,
  withinPlan,
  withTriggerRecords,
  type ConnectorDeps,
} from './operations/setup.js';
import {
  createConnector,
  editsWith,
  moveConnector,
  openConfig,
  refuseMove,
  sealedCallbackSecret,
  sealedConfig,
} from './operations/store.js';
import { causesOfConnector, connectorOf } from './causes.js';
import { triggerActions } from './trigger-actions.js';
import { Id } from '../../base/ids.js';
export { repositoryBindingsCollection, repositoryOwnersCollection } from './operations/repositories.js';
export { connectorsCollection, connectorTriggersCollection } from './record.js';
export { callbackDeliveriesCollection } from './deliveries.js';

const ofCategory = z.object({ category: z.string().max(100).meta({ enum: ConnectorCategory.options }) });
const ofConnector = z.object({ connector_id: Id });
const connectorId = Id.max(128);

/** @throws AppError `not_found` for an unknown category */
function categoryOf(text: string): ConnectorCategory {
  const parsed = ConnectorCategory.safeParse(text);
  if (!parsed.success)
    throw new AppError(
      'not_found',
      `unknown connector category ${JSON.stringify(text)}: expected one of ${ConnectorCategory.options.join(', ')}`,
    );
  return parsed.data;
}

export const listConnectors = defineOperation({
  name: 'connector.list',
  ...reads,
  input: ListQuery.extend({ category: ConnectorCategory.optional(), status: ConnectorStatus.optional() }),
  output: listOf(Connector),
  async run({ deps, ctx, input: { category, status, ...paging } }) {
    const filter = {
      projectID: ctx.principal.projectId,
      is_deleted: false,
      ...(category && { category }),
      ...(status && { status }),
    };
    const page = await listPage(deps.mongo.collections.connectors, filter, paging);
    return { ...page, data: page.data.map((each) => toConnector(deps.auth.box, each)) };
  },
});

export const readConnector = defineOperation({
  name: 'connector.read',
  ...reads,
  key: ofConnector,
  output: Connector,
  run: async ({ deps, ctx, key: { connector_id } }) =>
    toConnector(deps.auth.box, await requireConnector(deps.mongo.collections, ctx.principal, connector_id)),
});

export const readConnectorConfig = defineOperation({
  name: 'connector.read-config',
  ...reads,
  key: ofCategory,
  input: z.object({ connector_id: connectorId }),
  output: Connector,
  async run({ deps, ctx, key: { category }, input: { connector_id } }) {
    const connector = await requireConnector(deps.mongo.collections, ctx.principal, connector_id);
    if (connector.category !== categoryOf(category)) throw notFound('the connector');
    return toConnector(deps.auth.box, connector);
  },
});

/** The parameters of the provider, and whether the given (or else the newest) connector has set them. */
export const readProviderParams = defineOperation({
  name: 'connector.read-params',
  ...reads,
  input: z.object({ connector_id: connectorId.optional() }),
  output: ProviderParams,
  errors: ['not_found'],
  async run({ deps, ctx: { principal }, input: { connector_id } }) {
    const { collections } = deps.mongo;
    const connector =
      connector_id === undefined
        ? await collections.connectors.findOne(
            { projectID: principal.projectId, category: 'professional_network', is_deleted: false },
            { sort: { _id: -1 } },
          )
        : await requireConnector(collections, principal, connector_id);
    return {
      category: 'professional_network' as const,
      connector_id: connector?._id ?? null,
      params: requiredParams.map((param) => ({
        ...param,
        is_set: connector?.config_names.includes(param.name) ?? false,
      })),
      operations: Object.entries(operations.professional_network).map(([name, operation]) => ({ name, ...operation })),
    };
  },
});

export const listTriggerActions = defineOperation({
  name: 'connector.list-triggers',
  ...reads,
  input: z.object({ category: ConnectorCategory.optional() }),
  output: listOf(TriggerAction),
  async run({ input: { category } }) {
    const data = triggerActions.filter((each) => category === undefined || each.category === category);
    return { data, total_count: data.length, next_cursor: null };
  },
});

/**
 * Stores a connector with its pin, triggers and data loader. It is active immediately if its configuration is complete.
 * Throws `invalid_request` (category, configuration, loader).
 */
export const configureConnector = defineOperation({
  ...createConnectorRules,
  causes: causesOfConnector,
  key: ofCategory,
  input: NewConnector,
  output: Connector,
  errors: ['plan_limit'],
  async run({ deps, ctx, key, input }) {
    const category = categoryOf(key.category);
    if (input.category !== undefined && input.category !== category)
      throw new AppError('invalid_request', 'category: must be the same in path and body');
    return storeConnector(deps, ctx, category, input);
  },
});

/** Stores a connector to an MCP server. Throws `invalid_request` (configuration). */
export const configureMcpConnector = defineOperation({
  ...createConnectorRules,
  fixedFacts: { category: 'mcp' },
  input: NewMcpConnector,
  output: Connector,
  errors: ['plan_limit'],
  run: ({ deps, ctx, input: { name, projectID: _project, ...config } }) =>
    storeConnector(deps, ctx, 'mcp', NewConnector.parse({ name, config })),
});

async function storeConnector(
  deps: ConnectorDeps,
  { principal, recordId: id }: Pick<CallContext, 'principal' | 'recordId'>,
  category: ConnectorCategory,
  { category: _category, org_id: _org, user_id: _user, projectID: _project, ...fields }: NewConnector,
): Promise<Connector> {
  const { collections } = deps.mongo;
  await refuseInvalidConfig(collections, principal, category, fields);
  const status: ConnectorStatus = isComplete(category, fields.config) ? 'active' : 'pending';
  const owner = {
    user_id: principal.userId,
    authority: authorityOf(principal),
    projectID: principal.projectId,
    organization_id: principal.organizationId,
  };
  const { connector, pin } = await withinPlan(deps.customers, principal.organizationId, category, id, async () => {
    if (status === 'active' && isLoaded(fields))
      await loadSchedulesOf(deps).start({ _id: id, ...owner, data_loader_config: fields.data_loader_config });
    const triggers = await withTriggerRecords(deps, principal, id, id, fields.triggers);
    return createConnector(collections, deps.auth.box, id, { ...fields, ...owner, triggers, category, status });
  });
  return {
    ...toConnector(deps.auth.box, connector),
    ...(hostedCategories.includes(category) ? { notify_path: `/actions/${category}/notify/${id}/${pin}` } : {}),
  };
}

/** Rules treat changing the fields and changing the status as one operation. */
const updateRules: Operation = { name: 'connector.update', ...writes, facts: textFacts('connector_id') };

/** Throws `invalid_request` as for creation, and `conflict` if the connector was changed concurrently. */
export const updateConnector = defineOperation({
  ...updateRules,
  causes: causesOfConnector,
  key: ofConnector,
  subject: ({ deps, ctx, key }) => connectorOf(deps, ctx, key),
  input: ConnectorPatch,
  output: Connector,
  errors: ['conflict'],
  async run({ deps, ctx: { principal, recordId }, key: { connector_id: id }, input }) {
    const { collections } = deps.mongo;
    const { box } = deps.auth;
    const present = await requireConnector(collections, principal, id);
    const { projectID: _checked, expected, config: change, callback_secret, triggers: newTriggers, ...plain } = input;
    if (expected !== undefined && expected !== present.updated_at)
      throw new AppError('conflict', 'expected: the connector was changed since it was read; read it again');
    const stored = openConfig(box, present);
    const config = change === undefined ? stored : changedConfig(stored, change);
    const data_loader_config = input.data_loader_config ?? present.data_loader_config;
    const result = { config, data_loader_config, triggers: newTriggers ?? present.triggers, callback_secret };
    await refuseInvalidConfig(collections, principal, present.category, result, present);
    const kept = secretsForAnotherServer(stored, config);
    if (kept.length > 0)
      throw new AppError('invalid_request', `config: another server needs new values of ${kept.join(', ')}`);
    const status = present.status === 'pending' && isComplete(present.category, config) ? 'active' : present.status;
    // Start the schedule first, as at creation, because Temporal may refuse its times.
    if (status === 'active' && isLoaded({ data_loader_config }))
      await loadSchedulesOf(deps).start({ ...present, data_loader_config });
    const triggers = newTriggers && (await withTriggerRecords(deps, principal, id, recordId, newTriggers));
    const $set: Partial<ConnectorDocument> = {
      ...Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined)),
      ...(change !== undefined && { ...sealedConfig(box, id, config), config_edits: editsWith(present, principal) }),
      ...(typeof callback_secret === 'string' && {
        callback_secret_sealed: sealedCallbackSecret(box, id, callback_secret),
      }),
      ...(triggers && { triggers }),
      status,
      updated_at: epochSeconds(),
    };
    const $unset = callback_secret === null ? { $unset: { callback_secret_sealed: '' as const } } : {};
    const changed = await collections.connectors.findOneAndUpdate(
      { _id: id, is_deleted: false, updated_at: present.updated_at },
      // Whoever knows the secret can send events that start runs.
      {
        $set,
        ...$unset,
        ...((triggers ?? callback_secret) && { $addToSet: { triggers_edited_by: principal.userId } }),
      },
      { returnDocument: 'after' },
    );
    if (triggers && changed)
      await collections.connector_triggers.deleteMany({
        connector_id: id,
        _id: { $nin: triggers.flatMap(({ trigger_id }) => trigger_id ?? []) },
      });
    if (input.data_loader_config) await loadSchedulesOf(deps).reload(id);
    if (!changed) throw new AppError('conflict', 'the connector was changed in the meantime: read it again and retry');
    return toConnector(box, changed);
  },
});

/** Throws `conflict` for a change that the current status does not allow. */
export const setConnectorStatus = defineOperation({
  ...updateRules,
  causes: causesOfConnector,
  key: ofConnector,
  subject: ({ deps, ctx, key }) => connectorOf(deps, ctx, key),
  input: NewStatus,
  output: Connector,
  errors: ['conflict'],
  async run({ deps, ctx: { principal }, key: { connector_id }, input: { status } }) {
    const { collections } = deps.mongo;
    const connector = await requireConnector(collections, principal, connector_id);
    refuseMove(connector, status);
    if (status === 'active' && isLoaded(connector)) await loadSchedulesOf(deps).start(connector);
    const moved = await moveConnector(collections, connector, status, principal);
    if (status !== 'active' && isLoaded(connector)) await loadSchedulesOf(deps).align(connector_id);
    return toConnector(deps.auth.box, moved);
  },
});

/** A repeat completes a deletion that a crash interrupted, and throws `not_found`. */
export const deleteConnector = defineOperation({
  name: 'connector.delete',
  ...writes,
  facts: textFacts('connector_id'),
  key: ofConnector,
  output: Connector,
  async run({ deps, ctx, key: { connector_id } }) {
    const connector = await deps.mongo.collections.connectors.findOne({ _id: connector_id });
    if (!connector || connector.projectID !== ctx.principal.projectId) throw notFound('the connector');
    await deleteConnectorCompletely(deps, connector);
    if (connector.is_deleted) throw notFound('the connector');
    return toConnector(deps.auth.box, connector);
  },
});
