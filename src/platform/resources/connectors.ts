import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import { ConnectorCategory, ConnectorStatus, ConnectorTrigger, hostedCategories, type ConnectorDocument } from '../../connectors/connector.js';
import { createConnector, createTrigger, findConnector } from '../../connectors/store.js';
import type { Deps } from '../../deps.js';
import { notFound } from '../../errors.js';
import { defineRoute, type Route } from '../../http/define-route.js';

const AnyJson = z.record(z.string(), z.unknown());
const kinds = ['voice', 'media'] as const;

/** The request shape of the specification; triggers and actions may be written short, as a name. */
const NewConnector = z
  .strictObject({
    category: ConnectorCategory.optional(),
    name: z.string().trim().min(1).max(200),
    tags: z.array(z.string().max(200)).max(100).default([]),
    user_id: z.string().optional(),
    projectID: z.string().optional(),
    triggers: z.array(z.union([z.string().max(200).transform((event) => ({ event })), ConnectorTrigger])).max(100).default([]),
    data_loader_config: AnyJson.default({}),
    actions: z.array(z.unknown()).max(500).default([]),
    config: AnyJson.default({}),
    org_id: z.string().optional(),
  })
  .meta({ id: 'NewConnector', example: { name: 'Office mail', triggers: [{ event: 'mail_received', agentflow_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10' }], config: { account_api_url: 'https://accounts.example.com' } } });

export const Connector = z
  .object({
    _id: z.string(),
    category: ConnectorCategory,
    name: z.string(),
    tags: z.array(z.string()),
    user_id: z.string(),
    projectID: z.string(),
    org_id: z.string(),
    triggers: z.array(AnyJson),
    data_loader_config: AnyJson,
    actions: z.array(z.unknown()),
    config: AnyJson.meta({ description: 'The names that are set; the values are never read back.' }),
    status: ConnectorStatus,
    account: z.object({ id: z.string(), name: z.string().nullable(), verified_at: z.number().nullable() }).nullable(),
    created_at: z.number(),
    updated_at: z.number(),
    notify_path: z.string().optional().meta({ description: 'Told once, at creation: where the account provider is to call back.' }),
  })
  .meta({ id: 'Connector' });
export type Connector = z.infer<typeof Connector>;

const tag = 'connectors';
const params = z.object({ category: ConnectorCategory });

/** Connectors with their pins and triggers (contract, connectors). */
export function connectorRoutes({ mongo: { collections }, auth }: Pick<Deps, 'mongo' | 'auth'>): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/actions/{category}/config',
      permission: 'svc:skill.write',
      tag,
      params,
      query: z.object({ projectID: z.string().optional() }),
      summary: 'Create a connector',
      body: NewConnector,
      response: { schema: Connector, description: 'The connector, with its callback path where it has one.' },
      idempotent: true,
      handler: async ({ ctx: { principal, recordId }, params: { category }, body }) => {
        const { org_id: _org, category: _category, user_id: _user, projectID: _project, ...given } = body;
        const triggers = await Promise.all(given.triggers.map((trigger, at) => withRecord(collections, principal, recordId, trigger, at)));
        const record = { ...given, triggers, category, user_id: principal.userId, projectID: principal.projectId, organization_id: principal.organizationId };
        const { connector, pin } = await createConnector(collections, auth.box, recordId, record);
        const isHosted = hostedCategories.includes(category);
        return { ...shown(connector), ...(isHosted ? { notify_path: `/actions/${category}/notify/${connector._id}/${pin}` } : {}) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/actions/{category}/config',
      permission: 'svc:orchestrate.read',
      tag,
      params,
      query: z.object({ projectID: z.string().optional(), connector_id: z.string().max(128) }),
      summary: 'Read a connector',
      response: { schema: Connector, description: 'The connector without its secrets.' },
      handler: async ({ ctx: { principal }, params: { category }, query: { connector_id } }) => {
        const connector = await findConnector(collections, connector_id);
        if (!connector || connector.projectID !== principal.projectId || connector.category !== category) throw notFound('connector');
        return shown(connector);
      },
    }),
  ];
}

/** A trigger of a voice or media provider is called back by an id of its own. */
async function withRecord(collections: Deps['mongo']['collections'], principal: Principal, connectorId: string, trigger: ConnectorTrigger, at: number) {
  const kind = kinds.find((each) => each === trigger.kind);
  if (!kind || trigger.agentflow_id === undefined) return trigger;
  const { userId, projectId, organizationId } = principal;
  const { agentflow_id, goal = null } = trigger;
  const given = { kind, connector_id: connectorId, agentflow_id, goal, user_id: userId, projectID: projectId, organization_id: organizationId };
  const { _id } = await createTrigger(collections, given, `${connectorId}-${at}`);
  return { ...trigger, trigger_id: _id };
}

/** A connector without its secrets. */
export function shown(connector: ConnectorDocument): Connector {
  const { config_names, organization_id: org_id, ...record } = connector;
  const { _id, category, name, tags, user_id, projectID, triggers, data_loader_config, actions, status, account, created_at, updated_at } = record;
  const config = Object.fromEntries(config_names.map((each) => [each, '[stored]']));
  return { _id, category, name, tags, user_id, projectID, org_id, triggers, data_loader_config, actions, config, status, account, created_at, updated_at };
}
