import { followEvents, type FollowOptions } from './events.js';
import { createExecutions, type Executions } from './executions.js';
import { createFiles, type Files } from './files.js';
import {
  createAgentflowsMethods,
  createSchedulesMethods,
  type AgentflowsMethods,
  type SchedulesMethods,
  type Send,
} from './methods.js';
import { createTables, type Tables } from './tables.js';
import type { SendRequest, Transport } from './transport.js';
import type { ProjectEvent } from './types.js';

/**
 * Calls of the workflow platform in the client's project. Each call rejects with `ServiceError` if the service refuses
 * it.
 */
export interface Platform {
  /**
   * Sends a request to a route that this version of the client does not know. For known routes, use the typed
   * `client.call`.
   */
  request: SendRequest;
  /**
   * Yields changes in the project without end, from now or after `lastEventId`. `type` tells what `data` contains.
   * @param options - Where to begin, and a signal that ends the stream.
   */
  events(options?: FollowOptions): AsyncGenerator<ProjectEvent, void, undefined>;
  agentflows: AgentflowsMethods;
  executions: Executions;
  schedules: SchedulesMethods;
  tables: Tables;
  files: Files;
}

export function createPlatform(transport: Transport, send: Send): Platform {
  return {
    request: (method, path, parts = {}, options) =>
      transport.call('platform', { method, path, takesKey: method === 'POST', ...parts }, options),
    events: (options) =>
      followEvents<ProjectEvent>(transport, `/${encodeURIComponent(transport.workspace.projectId)}/events`, options),
    agentflows: createAgentflowsMethods(send),
    executions: createExecutions(transport, send),
    schedules: createSchedulesMethods(send),
    tables: createTables(send),
    files: createFiles(transport, send),
  };
}
