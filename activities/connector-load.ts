import {
  loadConnector,
  recordConnectorLoad,
  type ConnectorLoadStores,
} from '../src/domain/connectors/load-connector.js';
import type { LoadSchedules } from '../src/domain/connectors/load-schedules.js';
import type { ServiceRecorderDeps } from '../src/governance/service-record.js';
import type { ConnectorLoadActivities } from '../workflows/connector-load/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export interface ConnectorLoadDeps extends ConnectorLoadStores {
  audit: ServiceRecorderDeps['audit'];
  loads: LoadSchedules;
}

export function createConnectorLoadActivities(deps: ConnectorLoadDeps): ConnectorLoadActivities {
  const { mongo, audit, loads } = deps;
  return {
    loadConnector: (load) => withHeartbeat(null, ({ signal }) => loadConnector(deps, load, signal)),
    alignLoadSchedule: ({ connector_id }) => loads.align(connector_id),
    recordConnectorLoad: (load) => recordConnectorLoad({ collections: mongo.collections, audit }, load),
  };
}
