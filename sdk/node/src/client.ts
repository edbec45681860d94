import { createCall, type Call } from './call.js';
import { parseWorkspace } from './connection.js';
import { createGateway, type Gateway } from './gateway.js';
import { createPlatform, type Platform } from './platform.js';
import type { RetryOptions } from './retry.js';
import { createTransport, type CallOptions } from './transport.js';
import type { ConnectionInfo } from './types.js';

export interface ClientOptions extends RetryOptions {
  /** The workspace URL, `https://<host>/ws_<project id>`; `SERVICE_WORKSPACE`. */
  workspace?: string;
  /** `SERVICE_API_KEY`. */
  apiKey?: string;
  /** In place of the global one. */
  fetch?: typeof fetch;
}

export interface Client {
  projectId: string;
  connectionInfo(options?: Pick<CallOptions, 'signal'>): Promise<ConnectionInfo>;
  /** Any operation of the API, typed by the API reference. */
  call: Call;
  gateway: Gateway;
  platform: Platform;
}

/**
 * A client of one project. Nothing is sent before the first call, which asks the deployment for its addresses.
 * @throws TypeError without a workspace URL or a key
 */
export function createClient({
  workspace = process.env.SERVICE_WORKSPACE,
  apiKey = process.env.SERVICE_API_KEY,
  ...options
}: ClientOptions = {}): Client {
  if (!workspace) throw new TypeError('name the workspace URL: SERVICE_WORKSPACE, or createClient({ workspace })');
  if (!apiKey) throw new TypeError('name the API key: SERVICE_API_KEY, or createClient({ apiKey })');
  const transport = createTransport({ workspace: parseWorkspace(workspace), apiKey, ...options });
  const call = createCall(transport);
  return {
    projectId: transport.workspace.projectId,
    connectionInfo: transport.connectionInfo,
    call,
    gateway: createGateway(transport, call),
    platform: createPlatform(transport, call),
  };
}
