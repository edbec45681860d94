import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import type { Authority } from '../../auth/authority.js';
import { cronProblem, readCron } from '../../temporal/cron.js';

/** The categories that the specification names (Connector configuration), and MCP servers. */
export const ConnectorCategory = z.enum([
  'content_creator',
  'messaging',
  'professional_network',
  'mail',
  'restful',
  'mcp',
]);
export type ConnectorCategory = z.infer<typeof ConnectorCategory>;

/** Categories whose accounts are connected through a provider's hosted authentication, which calls the notify routes. */
export const hostedCategories: readonly ConnectorCategory[] = ['professional_network', 'mail', 'messaging'];

/** `awaiting_verification`: a provider reported an account, but no API is configured to verify it. */
export const ConnectorStatus = z.enum(['pending', 'awaiting_verification', 'active', 'paused', 'failed']);
export type ConnectorStatus = z.infer<typeof ConnectorStatus>;

/** The status changes that a user may make. Callbacks and verification make the others. */
export const statusMoves: Record<ConnectorStatus, readonly ConnectorStatus[]> = {
  pending: ['active'],
  awaiting_verification: ['active', 'failed', 'pending'],
  active: ['paused'],
  paused: ['active'],
  failed: ['pending'],
};

/** Maps an event to the coworker that it starts. */
export const ConnectorTrigger = z.strictObject({
  event: z.string().max(200).default('*').describe('The name of the event; `*` matches every event.'),
  agentflow_id: z.string().max(128).optional(),
  goal: z.string().max(20_000).optional(),
  kind: z
    .string()
    .max(200)
    .optional()
    .describe('`voice` or `media` for a trigger that the provider calls at a path of its own.'),
  trigger_id: z
    .string()
    .max(200)
    .optional()
    .describe('The id in the callback path of a voice or media trigger. The service sets it.'),
  id_fields: z
    .array(z.string().trim().min(1).max(200))
    .min(1)
    .max(5)
    .optional()
    .describe(
      'The fields of the body whose values together identify an event, such as `id` or `data.object.id`. If a body contains them, later bodies with the same values are repeats. Otherwise only an identical body is a repeat. A trigger of an account requires a `callback_secret`.',
    ),
});
export type ConnectorTrigger = z.infer<typeof ConnectorTrigger>;

/** Named intervals, in seconds. */
export const namedFrequencies: Readonly<Record<string, number>> = { hourly: 3600, daily: 86_400, weekly: 604_800 };

/** When and from where a connector loads data. */
export const DataLoaderConfig = z
  .strictObject({
    frequency: z
      .string()
      .trim()
      .max(200)
      .optional()
      .describe(
        '`once`, `interval`, `hourly`, `daily`, `weekly`, or a cron expression, which is in UTC unless it starts with `CRON_TZ=Area/City`. Defaults to `interval` if `syncInterval` is given.',
      ),
    syncInterval: z
      .int()
      .min(10)
      .max(366 * 86_400)
      .optional()
      .describe('Seconds.'),
    path: z
      .string()
      .trim()
      .max(2000)
      .regex(/^\/(?![/\\])/, 'must begin with exactly one /')
      .optional()
      .describe("The path to read, relative to the connector's base URL."),
    action_id: z.string().max(100).optional().describe('A standalone action that reads the data, instead of `path`.'),
    records_field: z
      .string()
      .max(200)
      .optional()
      .describe('The field of the response that contains the list of records.'),
    entity_type: z
      .string()
      .regex(/^\p{L}[\p{L}\p{N}_ -]{0,99}$/u)
      .optional()
      .describe("Defaults to a type derived from the connector's name."),
    id_field: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("The field that contains a record's id. Defaults to `id`."),
    name_field: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("The field that contains a record's name. Defaults to `name`."),
    table_id: z.string().max(100).optional().describe('The table, on the connector of a table.'),
  })
  .superRefine(({ frequency, syncInterval }, context) => {
    const problem = frequencyProblem(frequency, syncInterval);
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['frequency'], message: problem });
  });
export type DataLoaderConfig = z.infer<typeof DataLoaderConfig>;

function frequencyProblem(frequency: string | undefined, syncInterval: number | undefined): string | undefined {
  if (frequency === 'interval') return syncInterval === undefined ? 'requires syncInterval' : undefined;
  if (frequency === undefined || frequency === 'once' || Object.hasOwn(namedFrequencies, frequency)) return undefined;
  const problem = cronProblem(readCron(frequency));
  return problem && `must be once, interval, hourly, daily, weekly or a cron expression: ${problem}`;
}

/** `_id` is the id in the callback paths. Times are epoch seconds. */
export interface ConnectorDocument {
  _id: string;
  category: ConnectorCategory;
  name: string;
  tags: string[];
  user_id: string;
  /** What the credential of `user_id` allowed. */
  authority: Authority;
  projectID: string;
  organization_id: string;
  triggers: ConnectorTrigger[];
  data_loader_config: DataLoaderConfig;
  actions: unknown[];
  /** Set on the connector of a table, which does not count toward the quota. */
  table_id?: string;
  /** The names of the fields of `config`. The values are encrypted and never returned. */
  config_names: string[];
  config_sealed: string;
  pin_hash: string;
  pin_sealed: string;
  /** The secret that signs callbacks, if the connector has one. */
  callback_secret_sealed?: string;
  status: ConnectorStatus;
  /** Why the service paused it. */
  status_reason: string | null;
  /** The provider's account. `verified_at` is null until the account is verified. */
  account: { id: string; name: string | null; verified_at: number | null } | null;
  /** When it was last used, and its failures since the last success. Absent before the first use. */
  use?: { last_at: number; failures?: number; failure?: { at: number; message: string } };
  /** The people who changed its triggers after it was created. Absent before the first one. */
  triggers_edited_by?: string[];
  /** The people who changed its configuration after it was created, with the last time of each. Absent before the first. */
  config_edits?: { by: string; at: number }[];
  is_deleted: boolean;
  created_at: number;
  updated_at: number;
}

/** Finds the connector of a voice or media trigger by `_id`, the id in the callback path. The connector has the trigger itself. */
export interface TriggerDocument {
  _id: string;
  kind: 'voice' | 'media';
  projectID: string;
  connector_id: string;
}

export function isLoaded({
  data_loader_config: { frequency, syncInterval },
}: Pick<ConnectorDocument, 'data_loader_config'>): boolean {
  return frequency !== undefined || syncInterval !== undefined;
}

export const connectorsCollection = defineCollection('connectors', {
  indexes: [{ keys: { projectID: 1, _id: -1 } }, { keys: { organization_id: 1 } }],
});
export const connectorTriggersCollection = defineCollection('connector_triggers', {
  indexes: [{ keys: { projectID: 1 } }, { keys: { connector_id: 1 } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    connectors: ConnectorDocument;
    connector_triggers: TriggerDocument;
  }
}
