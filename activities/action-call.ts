import type { SecretBox } from '../src/auth/secret-box.js';
import type { HttpClient } from '../src/outbound/http-client.js';
import type { SmtpClient } from '../src/outbound/smtp-client.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { CallActionRequest } from '../workflows/agentflow-execution/activities.js';
import type { TokenSource } from './access-tokens.js';

export interface ActionDeps {
  http: HttpClient;
  smtp: SmtpClient;
  mongo: Pick<Mongo, 'collections'>;
  secrets: SecretBox;
  tokens: TokenSource;
}

/** A connector with its secrets: it stays within the activity. */
export interface OpenConnector {
  id: string;
  /** The sealed configuration, which is another one after every change. */
  sealed: string;
  account_id: string | undefined;
  config: Record<string, unknown>;
}

export interface ActionCall {
  request: CallActionRequest;
  connector: OpenConnector | null;
  signal: AbortSignal;
  /** The largest answer taken, 1 MiB when left out. */
  maxBytes?: number | undefined;
}

/** What came back, and the secrets that were sent and must not be in it. */
export interface ActionOutput {
  value: unknown;
  secrets: readonly string[];
}

export type ActionExecutor = (deps: ActionDeps, call: ActionCall) => Promise<ActionOutput>;
