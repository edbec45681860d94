import { createCall, createSend, type Call } from './call.js';
import { parseWorkspace } from './connection.js';
import { createGateway, type Gateway } from './gateway.js';
import { createPlatform, type Platform } from './platform.js';
import type { RetryOptions } from './retry.js';
import { createTransport, type CallOptions } from './transport.js';
import type { ConnectionInfo } from './types.js';

export interface ClientOptions extends RetryOptions {
  /** The workspace URL, `https://<host>/ws_<project id>`. The default is `SERVICE_WORKSPACE`. */
  workspace?: string;
  /** The default is `SERVICE_API_KEY`. */
  apiKey?: string;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

/** The calls of one project. */
export interface Client {
  /** The project of the workspace. */
  projectId: string;
  /** Returns the URLs of the deployment, which the first call gets. */
  connectionInfo(options?: Pick<CallOptions, 'signal'>): Promise<ConnectionInfo>;
  /** Calls any operation of the API, typed by the API reference. */
  call: Call;
  /** The tools, lifecycles, approvals and the audit chain. */
  gateway: Gateway;
  /** Agentflows, executions, schedules, tables and files. */
  platform: Platform;
}

/**
 * Creates a client of one project. The first call gets the URLs of the deployment; nothing is sent before.
 * @throws TypeError if the workspace URL or the key is missing
 */
export function createClient({
  workspace = fromEnvironment('SERVICE_WORKSPACE'),
  apiKey = fromEnvironment('SERVICE_API_KEY'),
  ...options
}: ClientOptions = {}): Client {
  if (!workspace) throw new TypeError('name the workspace URL: SERVICE_WORKSPACE, or createClient({ workspace })');
  if (!apiKey) throw new TypeError('name the API key: SERVICE_API_KEY, or createClient({ apiKey })');
  const transport = createTransport({ workspace: parseWorkspace(workspace), apiKey, ...options });
  const send = createSend(transport);
  return {
    projectId: transport.workspace.projectId,
    connectionInfo: transport.connectionInfo,
    call: createCall(transport),
    gateway: createGateway(transport, send),
    platform: createPlatform(transport, send),
  };
}

/** Browsers and edge runtimes have no environment. */
function fromEnvironment(name: string): string | undefined {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name];
}
