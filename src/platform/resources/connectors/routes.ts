import { z } from 'zod';
import { ConnectorCategory, ConnectorStatus } from '../../../connectors/connector.js';
import { triggerActions } from '../../../connectors/trigger-actions.js';
import { notFound } from '../../../errors.js';
import { defineRoute, type Route } from '../../../http/define-route.js';
import { listOf, listPage, ListQuery } from '../../../http/lists.js';
import { providerParams, ProviderParams } from './params.js';
import { Connector, NewConnector, NewStatus, shown, TriggerAction } from './schemas.js';
import { configureConnector, deleteConnector, readConnector, setStatus, type ConnectorDeps } from './store.js';

const tag = 'connectors';
const reads = 'svc:orchestrate.read';
const changes = 'svc:orchestrate.write';
const query = z.object({ projectID: z.string().optional() });
const ofCategory = z.object({ category: ConnectorCategory });
const ofProject = z.object({ projectID: z.string() });
const ofConnector = z.object({ projectID: z.string(), connector_id: z.string() });
const inDevelopment = 'In development: the shape may still change.';

/** Connectors with their pins, triggers and data loaders (contract, connectors; specification, Connector configuration). */
export function connectorRoutes(deps: ConnectorDeps): Route[] {
  return [...configurationRoutes(deps), ...catalogRoutes(deps), ...recordRoutes(deps)];
}

function configurationRoutes(deps: ConnectorDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/actions/{category}/config',
      permission: 'svc:skill.write',
      tag,
      params: ofCategory,
      query,
      summary: 'Create a connector',
      description: `${inDevelopment} It is active at once where its \`config\` is complete; otherwise it is pending until an account is connected, or its status is set.`,
      body: NewConnector,
      response: { schema: Connector, description: 'The connector, with its callback path where it has one.' },
      errors: ['plan_limit'],
      idempotent: true,
      handler: ({ ctx, params: { category }, body }) => configureConnector(deps, ctx.principal, ctx.recordId, category, body),
    }),
    defineRoute({
      method: 'get',
      path: '/actions/{category}/config',
      permission: reads,
      tag,
      params: ofCategory,
      query: query.extend({ connector_id: z.string().max(128) }),
      summary: 'Read the configuration of a connector',
      description: inDevelopment,
      response: { schema: Connector, description: 'The connector without its secrets.' },
      handler: async ({ ctx, params: { category }, query: { connector_id } }) => {
        const connector = await readConnector(deps.mongo.collections, ctx.principal, connector_id);
        if (connector.category !== category) throw notFound('the connector');
        return shown(connector);
      },
    }),
  ];
}

function catalogRoutes({ mongo: { collections } }: ConnectorDeps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/actions/professional_network/params',
      permission: reads,
      tag,
      query: query.extend({ connector_id: z.string().max(128).optional() }),
      summary: "Read the parameters of the account provider's professional network",
      response: { schema: ProviderParams, description: 'The parameters with those that are set, and the operations.' },
      errors: ['not_found'],
      handler: ({ ctx, query: { connector_id } }) => providerParams(collections, ctx.principal, connector_id),
    }),
    defineRoute({
      method: 'get',
      path: '/actions/triggers',
      permission: reads,
      tag,
      query: query.extend({ category: ConnectorCategory.optional() }),
      summary: 'List the trigger actions that there are',
      response: { schema: listOf(TriggerAction), description: 'All of them, on one page.' },
      handler: async ({ query: { category } }) => {
        const data = triggerActions.filter((each) => category === undefined || each.category === category);
        return { data, total_count: data.length, next_cursor: null };
      },
    }),
  ];
}

function recordRoutes(deps: ConnectorDeps): Route[] {
  const { collections } = deps.mongo;
  return [
    defineRoute({
      method: 'get',
      path: '/connectors/{projectID}',
      permission: reads,
      tag,
      params: ofProject,
      query: ListQuery.extend({ ...query.shape, category: ConnectorCategory.optional(), status: ConnectorStatus.optional() }),
      summary: 'List the connectors of a project, newest first',
      response: { schema: listOf(Connector), description: 'One page of connectors.' },
      handler: async ({ ctx, query: { category, status, ...paging } }) => {
        const filter = { projectID: ctx.principal.projectId, is_deleted: false, ...(category && { category }), ...(status && { status }) };
        const page = await listPage(collections.connectors, filter, paging);
        return { ...page, data: page.data.map(shown) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/connectors/{projectID}/{connector_id}',
      permission: reads,
      tag,
      params: ofConnector,
      query,
      summary: 'Read a connector',
      response: { schema: Connector, description: 'The connector without its secrets.' },
      handler: async ({ ctx, params: { connector_id } }) => shown(await readConnector(collections, ctx.principal, connector_id)),
    }),
    defineRoute({
      method: 'delete',
      path: '/connectors/{projectID}/{connector_id}',
      permission: changes,
      tag,
      params: ofConnector,
      query,
      summary: 'Delete a connector',
      description: 'Its secrets, pin, triggers and data loader go with it; callbacks for it are 404.',
      response: { schema: Connector, description: 'The last record.' },
      handler: ({ ctx, params: { connector_id } }) => deleteConnector(deps, ctx.principal, connector_id),
    }),
    defineRoute({
      method: 'post',
      path: '/connectors/{projectID}/{connector_id}/status',
      permission: changes,
      tag,
      params: ofConnector,
      query,
      summary: 'Set the status of a connector',
      description: 'Pending becomes active, active paused, paused active, failed pending; one that awaits verification becomes active, failed or pending. While it is paused no action, callback or data loader uses it.',
      body: NewStatus,
      response: { schema: Connector, description: 'The connector as it is now.' },
      errors: ['conflict'],
      handler: ({ ctx, params: { connector_id }, body: { status } }) => setStatus(deps, ctx.principal, connector_id, status),
    }),
  ];
}
