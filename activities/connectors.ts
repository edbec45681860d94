import type { LoadSchedules } from '../src/domain/connectors/load-schedules.js';
import { startCoworker } from '../src/domain/executions/start-coworker.js';
import { verifyAccount } from '../src/domain/connectors/verify-account.js';
import type { Deps } from '../src/domain/deps.js';
import type { ConnectorEventsActivities } from '../workflows/connector-events/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export function createConnectorActivities(deps: Deps, loads: LoadSchedules): ConnectorEventsActivities {
  return {
    verifyAccount: (request) => withHeartbeat(null, ({ signal }) => verifyAccount(deps, loads, request, signal)),
    startCoworker: (request) => withHeartbeat(null, () => startCoworker(deps, request)),
  };
}
