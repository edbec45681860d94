import { z } from 'zod';
import { ConnectorCategory, ConnectorStatus, ConnectorTrigger, DataLoaderConfig, type ConnectorDocument } from '../../../connectors/connector.js';
import { exampleConnector, newConnectorExample } from './examples.js';

const AnyJson = z.record(z.string(), z.unknown());
const Config = AnyJson.meta({
  description:
    'Sealed as a whole, never read back. `restful`: `base_url`, `auth` {`type`: none, header, bearer, basic or client_credentials, …}, `headers`, `timeout_ms`; `mail`: `host`, `port`, `secure`, `require_tls`, `user`, `password`, `from`; the others `account_api_url`, `account_api_token`.',
});

/** The request shape of the specification; triggers and actions may be written short, as a name. */
export const NewConnector = z
  .strictObject({
    category: ConnectorCategory.optional(),
    name: z.string().trim().min(1).max(200),
    tags: z.array(z.string().max(200)).max(100).default([]),
    user_id: z.string().optional(),
    projectID: z.string().optional(),
    triggers: z.array(z.union([z.string().max(200).transform((event) => ({ event })), ConnectorTrigger])).max(100).default([]),
    data_loader_config: DataLoaderConfig.default({}),
    actions: z.array(z.unknown()).max(500).default([]),
    config: Config.default({}),
    org_id: z.string().optional(),
  })
  .meta({ id: 'NewConnector', example: newConnectorExample });
export type NewConnector = z.infer<typeof NewConnector>;

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
  .meta({ id: 'Connector', example: exampleConnector });
export type Connector = z.infer<typeof Connector>;

export const NewStatus = z.strictObject({ projectID: z.string().optional(), status: ConnectorStatus }).meta({ id: 'ConnectorStatusMove', example: { status: 'paused' } });

export const TriggerAction = z
  .object({ category: ConnectorCategory, event: z.string(), name: z.string(), description: z.string() })
  .meta({ id: 'TriggerAction', example: { category: 'mail', event: 'mail_received', name: 'Mail received', description: 'A mail came in' } });

/** A record as answers show it: the names of what is set in `config`, and no secret. */
export function shown(connector: ConnectorDocument): Connector {
  const { config_names, organization_id: org_id, ...record } = connector;
  const { _id, category, name, tags, user_id, projectID, triggers, data_loader_config, actions, status, account, created_at, updated_at } = record;
  const config = Object.fromEntries(config_names.map((each) => [each, '[stored]']));
  return { _id, category, name, tags, user_id, projectID, org_id, triggers, data_loader_config, actions, config, status, account, created_at, updated_at };
}
