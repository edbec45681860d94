import { loadConnector, recordConnectorLoad, type ConnectorLoadDeps } from '../src/domain/connectors/load-connector.js';
import type { LoadSchedules } from '../src/domain/connectors/load-schedules.js';
import type { ConnectorLoadActivities } from '../workflows/connector-load/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export function createConnectorLoadActivities(deps: ConnectorLoadDeps, loads: LoadSchedules): ConnectorLoadActivities {
  return {
    loadConnector: (load) => withHeartbeat(null, ({ signal }) => loadConnector(deps, load, signal)),
    alignLoadSchedule: ({ connector_id }) => loads.align(connector_id),
    recordConnectorLoad: (load) => recordConnectorLoad(deps, load),
  };
}
