import type { Principal } from '../auth/principal.js';
import type { RouteCaller } from '../http/call-route.js';

/** Times are epoch seconds. */
export interface ConsoleEvent {
  seq: number;
  type: string;
  at: number;
  data: Record<string, unknown>;
}

/** What the console shows and does is done by the other surfaces; the application hands it over. */
export interface ConsolePorts {
  /** The routes of platform and gateway, with their own permissions: the console has none of its own. */
  api: RouteCaller;
  executions: {
    /** The newest events of an execution, in their order. @throws AppError `not_found` */
    events(principal: Principal, executionId: string): Promise<ConsoleEvent[]>;
  };
}
