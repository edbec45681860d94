import { z } from 'zod';
import type { SecretBox } from '../../../auth/secret-box.js';
import { checkMcp, mcpConfigFields, toPublicConfig, storedPlaceholder } from '../rules/config.js';
import { openConfig } from '../operations/store.js';
import {
  ConnectorCategory,
  ConnectorStatus,
  ConnectorTrigger,
  DataLoaderConfig,
  type ConnectorDocument,
} from '../record.js';
import { exampleConnector, newConnectorExample } from '../examples.js';
import { pickShown } from '../../../base/pick.js';
import { VisibleText } from '../../../base/validation.js';

const AnyJson = z.record(z.string(), z.unknown());
const Config = AnyJson.describe(
  'Encrypted; responses never include its secrets. Fields for `restful`: `base_url`, `auth` {`type`: none, header, bearer, basic or client_credentials, …}, `headers`, `timeout_ms`; for `mail`: `host`, `port`, `secure`, `require_tls`, `user`, `password`, `from`; for `mcp`: `url` or `command`, `auth`; for the other categories: `account_api_url`, `account_api_token`.',
);

const CallbackSecret = z
  .string()
  .min(16)
  .max(200)
  .describe(
    'The secret that signs callbacks of the connector: `X-Hub-Signature-256: sha256=<HMAC-SHA256 of the body in hex>`. Encrypted and never returned.',
  );
const fields = {
  name: VisibleText.min(1).max(200),
  tags: z.array(z.string().max(200)).max(100),
  triggers: z
    .array(
      z.union([
        z
          .string()
          .max(200)
          .transform((event) => ({ event })),
        ConnectorTrigger,
      ]),
    )
    .max(100),
  data_loader_config: DataLoaderConfig,
  actions: z.array(z.unknown()).max(500),
};

/** The request shape of the specification. A trigger may be given as the name of its event. */
export const NewConnector = z
  .strictObject({
    category: ConnectorCategory.optional(),
    name: fields.name,
    tags: fields.tags.default([]),
    user_id: z.string().optional(),
    projectID: z.string().optional(),
    triggers: fields.triggers.default([]),
    data_loader_config: fields.data_loader_config.default({}),
    actions: fields.actions.default([]),
    config: Config.default({}),
    callback_secret: CallbackSecret.optional(),
    org_id: z.string().optional(),
  })
  .meta({ id: 'ConnectorInput', example: newConnectorExample });
export type NewConnector = z.infer<typeof NewConnector>;

export const NewMcpConnector = z
  .strictObject({ name: fields.name, ...mcpConfigFields, projectID: z.string().optional() })
  .superRefine(checkMcp)
  .meta({
    id: 'McpConnectorInput',
    example: {
      name: 'Ticket system',
      url: 'https://tickets.example.com/mcp',
      auth: { type: 'header', name: 'Authorization', value: 'Bearer a-token' },
    },
  });

export const ConnectorPatch = z
  .strictObject({
    ...fields,
    config: AnyJson.describe(
      'Fields to change. null removes a field; `[stored]` keeps the stored value, so that a response can be sent back.',
    ),
    callback_secret: CallbackSecret.nullable(),
    expected: z
      .number()
      .describe(
        'What the change is based on: `updated_at`, as it was read. If the connector was changed since, the answer is 409.',
      ),
    projectID: z.string(),
  })
  .partial()
  .meta({ id: 'ConnectorPatch', example: { name: 'Claims register', config: { timeout_ms: 5000 } } });

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
    config: AnyJson.describe('The configuration, with `[stored]` in place of each secret.'),
    has_callback_secret: z.boolean(),
    status: ConnectorStatus,
    status_reason: z.string().nullable().describe('Why the service paused the connector.'),
    account: z.object({ id: z.string(), name: z.string().nullable(), verified_at: z.number().nullable() }).nullable(),
    last_used_at: z.number().nullable().describe('Its last call. Accurate to a few seconds.'),
    failures: z.int().describe('The calls that failed since the last one that succeeded.'),
    last_failure: z.object({ at: z.number(), message: z.string() }).nullable(),
    created_at: z.number(),
    updated_at: z.number(),
    notify_path: z
      .string()
      .optional()
      .describe('The callback path for the account provider. Returned only at creation.'),
  })
  .meta({ id: 'Connector', example: exampleConnector });
export type Connector = z.infer<typeof Connector>;

export const NewStatus = z
  .strictObject({ projectID: z.string().optional(), status: ConnectorStatus })
  .meta({ id: 'ConnectorStatusMove', example: { status: 'paused' } });

export const TriggerAction = z
  .object({ category: ConnectorCategory, event: z.string(), name: z.string(), description: z.string() })
  .meta({
    id: 'TriggerAction',
    example: { category: 'mail', event: 'mail_received', name: 'Mail received', description: 'An email was received' },
  });

/** The connector without its secrets. */
export function toConnector(box: SecretBox, connector: ConnectorDocument): Connector {
  const { use, status_reason } = connector;
  return {
    ...pickShown(Connector, connector),
    org_id: connector.organization_id,
    config: publicConfigOf(box, connector),
    has_callback_secret: connector.callback_secret_sealed !== undefined,
    status_reason,
    last_used_at: use?.last_at ?? null,
    failures: use?.failures ?? 0,
    last_failure: use?.failure ?? null,
  };
}

/** Only the names of the fields, if the connector was deleted or this process cannot decrypt its configuration. */
function publicConfigOf(box: SecretBox, connector: ConnectorDocument): Record<string, unknown> {
  try {
    return toPublicConfig(openConfig(box, connector));
  } catch {
    return Object.fromEntries(connector.config_names.map((each) => [each, storedPlaceholder]));
  }
}
