import type { SecretBox } from '../../auth/secret-box.js';
import type { HttpClient, HttpRequest } from '../../outbound/http-client.js';
import type { SmtpClient } from '../../outbound/smtp-client.js';
import type { Mongo } from '../../stores/mongo.js';
import type { JsonObject } from '../../base/json.js';
import type { Logger } from '../../log.js';
import type { BeginQuestions } from '../mcp-servers/operations/elicitations.js';
import type { McpServerDeps } from '../mcp-servers/operations/live-tools.js';
import type { TokenSource } from './access-tokens.js';
import type { KeepFiles } from './operations/keep-files.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';

export interface ActionDeps extends McpServerDeps {
  http: HttpClient;
  smtp: SmtpClient;
  mongo: Pick<Mongo, 'collections'>;
  secrets: SecretBox;
  tokens: TokenSource;
  keepFiles: KeepFiles;
  questions: BeginQuestions;
  log: Pick<Logger, 'error'>;
}

/** A connector with its secrets, which only the activity may see. */
export interface OpenConnector {
  id: string;
  organization_id: string;
  /** The sealed configuration, which differs after every change. */
  sealed: string;
  account_id: string | undefined;
  config: Record<string, unknown>;
}

export interface CallProgress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

/** What a call sends and receives, without credentials. People see it in the details of the step. */
interface CallExchange {
  lifecycle_id?: string;
  input?: JsonObject;
  request?: JsonObject;
  response?: { status: number; headers: Record<string, string>; body?: string };
  output?: unknown;
}

/** Called with the target and the next method before a redirect is followed. It throws to refuse the target. */
export type OnRedirect = HttpRequest['onRedirect'];

export interface ActionCall {
  request: CallActionRequest;
  connector: OpenConnector | null;
  signal: AbortSignal;
  onRedirect?: OnRedirect;
  /** The maximum size of the answer; 1 MiB by default. */
  maxBytes?: number | undefined;
  /** Receives what the server reports while it works on the call. */
  onProgress?: ((progress: CallProgress) => void) | undefined;
  /** Receives what the call has sent and received so far. */
  note?: ((part: CallExchange) => void) | undefined;
  /** When the step of the call ends at the latest, in epoch seconds. Without it, the server cannot ask a person. */
  stepEndsAt?: number | undefined;
}

/** The answer, and the secrets that were sent, which must not appear in it. */
export interface ActionOutput {
  value: unknown;
  secrets: readonly string[];
}

/** A call that is ready to be sent. Preparing it has no side effects. */
export interface PreparedCall {
  host: string;
  /** The HTTP method; `SEND` for mail, `CALL` for a tool of an MCP server. */
  method: string;
  path: string;
  /** The values of the action's fields. */
  input: JsonObject;
  /** The exact call without credentials. Approvers see it, and an approval is valid only for it. */
  exact: JsonObject;
  /** A repeat causes no harm, even if the call has already taken effect. */
  isRepeatable: boolean;
  annotations: { read_only: boolean; destructive: boolean; open_world: boolean };
  /** Facts for rules in addition to those of every act. */
  facts?: Readonly<Record<string, unknown>>;
  send(onRedirect?: OnRedirect): Promise<ActionOutput>;
}

/** @throws AppError for an action, an input or a connector that cannot be used */
export type ActionExecutor = (deps: ActionDeps, call: ActionCall) => PreparedCall | Promise<PreparedCall>;
