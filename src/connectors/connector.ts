import { z } from 'zod';

/** The categories that the specification names (Connector configuration). */
export const ConnectorCategory = z.enum(['content_creator', 'messaging', 'professional_network', 'mail', 'restful']);
export type ConnectorCategory = z.infer<typeof ConnectorCategory>;

/** Those whose accounts are connected by a provider's hosted authentication, which calls back (the three notify routes). */
export const hostedCategories: readonly ConnectorCategory[] = ['professional_network', 'mail', 'messaging'];

/** `awaiting_verification`: a provider reported an account, and nothing is configured to ask whether that is true. */
export const ConnectorStatus = z.enum(['pending', 'awaiting_verification', 'active', 'failed', 'disabled']);
export type ConnectorStatus = z.infer<typeof ConnectorStatus>;

/** Which events of a connector start which coworker. What else is given is kept and not looked at. */
export const ConnectorTrigger = z.looseObject({
  event: z.string().max(200).default('*').meta({ description: 'The name of the event; `*` is every one.' }),
  agentflow_id: z.string().max(128).optional(),
  goal: z.string().max(20_000).optional(),
});
export type ConnectorTrigger = z.infer<typeof ConnectorTrigger>;

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
  data_loader_config: Record<string, unknown>;
  actions: unknown[];
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

/** What `config` may name for the account provider's API: where a reported account is fetched anew. */
export const AccountProvider = z.object({ account_api_url: z.url({ protocol: /^https?$/ }), account_api_token: z.string().optional() });
export type AccountProvider = z.infer<typeof AccountProvider>;
