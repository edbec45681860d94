import { z } from 'zod';

/** The categories that the specification names (Connector configuration). */
export const ConnectorCategory = z.enum(['content_creator', 'messaging', 'professional_network', 'mail', 'restful']);
export type ConnectorCategory = z.infer<typeof ConnectorCategory>;

/** Those whose accounts are connected by a provider's hosted authentication, which calls back (the three notify routes). */
export const hostedCategories: readonly ConnectorCategory[] = ['professional_network', 'mail', 'messaging'];

/** `awaiting_verification`: a provider reported an account, and nothing is configured to ask whether that is true. */
export const ConnectorStatus = z.enum(['pending', 'awaiting_verification', 'active', 'paused', 'failed']);
export type ConnectorStatus = z.infer<typeof ConnectorStatus>;

/** The moves that a person may make; callbacks and verification make the others. */
export const statusMoves: Record<ConnectorStatus, readonly ConnectorStatus[]> = {
  pending: ['active'],
  awaiting_verification: ['active', 'failed', 'pending'],
  active: ['paused'],
  paused: ['active'],
  failed: ['pending'],
};

/** Which events of a connector start which coworker. What else is given is kept and not looked at. */
export const ConnectorTrigger = z.looseObject({
  event: z.string().max(200).default('*').meta({ description: 'The name of the event; `*` is every one.' }),
  agentflow_id: z.string().max(128).optional(),
  goal: z.string().max(20_000).optional(),
});
export type ConnectorTrigger = z.infer<typeof ConnectorTrigger>;

/** A load by name of its interval, in seconds. */
export const namedFrequencies: Readonly<Record<string, number>> = { hourly: 3600, daily: 86_400, weekly: 604_800 };
const cronFields = /^(CRON_TZ=[A-Za-z0-9_+/-]+\s+)?(\S+\s+){4}\S+$/;

/** When a connector's data are loaded, and where from. What else is given is kept and not looked at. */
export const DataLoaderConfig = z
  .looseObject({
    frequency: z.string().trim().max(200).optional().meta({ description: '`once`, `interval`, `hourly`, `daily`, `weekly`, or a cron text, with `CRON_TZ=Area/City` before it where it is not UTC. `interval` where only `syncInterval` is given.' }),
    syncInterval: z.int().min(10).max(366 * 86_400).optional().meta({ description: 'Seconds.' }),
    path: z.string().trim().max(2000).regex(/^\/(?![/\\])/, 'must begin with one /').optional().meta({ description: "What is read, below the connector's base URL." }),
    action_id: z.string().max(100).optional().meta({ description: 'A standalone action that reads the data, in place of `path`.' }),
    records_field: z.string().max(200).optional().meta({ description: 'The field of the answer that holds the list of records.' }),
    entity_type: z.string().regex(/^\p{L}[\p{L}\p{N}_ -]{0,99}$/u).optional().meta({ description: "By default made of the connector's name." }),
    id_field: z.string().min(1).max(200).optional().meta({ description: "A record's own id; `id` when left out." }),
    name_field: z.string().min(1).max(200).optional().meta({ description: "A record's name; `name` when left out." }),
  })
  .superRefine(({ frequency, syncInterval }, context) => {
    const problem = frequencyProblem(frequency, syncInterval);
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['frequency'], message: problem });
  });
export type DataLoaderConfig = z.infer<typeof DataLoaderConfig>;

function frequencyProblem(frequency: string | undefined, syncInterval: number | undefined): string | undefined {
  if (frequency === 'interval') return syncInterval === undefined ? 'needs syncInterval' : undefined;
  if (frequency === undefined || frequency === 'once' || Object.hasOwn(namedFrequencies, frequency) || cronFields.test(frequency)) return undefined;
  return 'must be once, interval, hourly, daily, weekly or a cron text of five fields';
}

/** `_id` is the id in the callback paths. Times are epoch seconds. */
export interface ConnectorDocument {
  _id: string;
  category: ConnectorCategory;
  name: string;
  tags: string[];
  user_id: string;
  projectID: string;
  organization_id: string;
  triggers: ConnectorTrigger[];
  data_loader_config: DataLoaderConfig;
  actions: unknown[];
  /** Of a connector that came with a table; it takes no place of the plan. */
  table_id?: string;
  /** The names of what `config` holds; its values are sealed and never read back. */
  config_names: string[];
  config_sealed: string;
  pin_hash: string;
  pin_sealed: string;
  status: ConnectorStatus;
  /** What the provider's account was found to be. */
  account: { id: string; name: string | null; verified_at: number | null } | null;
  is_deleted: boolean;
  created_at: number;
  updated_at: number;
}

/** A trigger of a voice or media provider; `_id` is the id in its callback path. */
export interface TriggerDocument {
  _id: string;
  kind: 'voice' | 'media';
  projectID: string;
  organization_id: string;
  user_id: string;
  connector_id: string | null;
  agentflow_id: string;
  goal: string | null;
  is_active: boolean;
  created_at: number;
}

/** Whether its data are to be loaded at all. */
export function isLoaded({ data_loader_config: { frequency, syncInterval } }: Pick<ConnectorDocument, 'data_loader_config'>): boolean {
  return frequency !== undefined || syncInterval !== undefined;
}
