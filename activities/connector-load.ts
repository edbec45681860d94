import { createServiceRecorder, type ServiceRecorderDeps } from '../src/callbacks/service-record.js';
import type { ConnectorDocument } from '../src/connectors/connector.js';
import type { LoadSchedules } from '../src/connectors/load-schedules.js';
import { findConnector } from '../src/connectors/store.js';
import { AppError } from '../src/errors.js';
import { save } from '../src/graph/save/save.js';
import type { Stamp } from '../src/graph/store/provenance.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { Graph } from '../src/stores/neo4j.js';
import { epochSeconds } from '../src/time.js';
import type { CallActionRequest } from '../workflows/agentflow-execution/activities.js';
import type { ActionPlan } from '../workflows/agentflow-execution/messages.js';
import type { ConnectorLoadActivities, LoadReference } from '../workflows/connector-load/activities.js';
import type { ConnectorLoadResult } from '../workflows/connector-load/messages.js';
import type { CallAction } from './action.js';
import { batches } from './batches.js';
import { entitiesOf, recordsIn } from './connector-load/mapping.js';
import { withHeartbeat } from './with-heartbeat.js';

export interface ConnectorLoadDeps {
  mongo: Pick<Mongo, 'collections'>;
  graph: Graph;
  audit: ServiceRecorderDeps['audit'];
  callAction: CallAction;
  loads: LoadSchedules;
}

const maxBytes = 10 * 1024 * 1024;

/** Reads a connector's records by one call of an action, and upserts them as entities. */
export function createConnectorLoadActivities({ mongo, graph, audit, callAction, loads }: ConnectorLoadDeps): ConnectorLoadActivities {
  const { collections } = mongo;
  const record = createServiceRecorder({ collections, audit });
  return {
    loadConnector: (load) =>
      withHeartbeat(null, async ({ signal }) => {
        const connector = await findConnector(collections, load.connector_id);
        if (!connector) return nothing('gone');
        if (connector.status !== 'active') return nothing('inactive');
        const answer = await callAction(await requestOf(collections, connector, load), { signal, maxBytes });
        const { entities, skipped } = entitiesOf(connector, recordsIn(connector.data_loader_config, answer));
        for (const some of batches(entities)) {
          await save(graph, connector.projectID, { entities: some, relationships: [], facts: [] }, stampOf(connector, load));
          signal.throwIfAborted();
        }
        return { outcome: 'loaded', saved: entities.length, skipped };
      }),

    alignLoadSchedule: ({ connector_id }) => loads.align(connector_id),

    async recordConnectorLoad({ connector_id, project_id, organization_id, lifecycle_id, started_at, result, failure }) {
      const detail = failure ?? `${result?.saved ?? 0} records saved, ${result?.skipped ?? 0} skipped`;
      await record({
        lifecycle_id,
        tool: 'connector-load',
        status: failure === null ? 'completed' : 'failed',
        ...{ project_id, organization_id, resource: `connector:${connector_id}`, created_at: started_at, ended_at: epochSeconds() },
        stages: [{ stage: 'S8:execute', status: failure === null ? 'ok' : 'failed', detail }],
      });
    },
  };
}

function nothing(outcome: 'gone' | 'inactive'): ConnectorLoadResult {
  return { outcome, saved: 0, skipped: 0 };
}

function stampOf({ _id, name }: ConnectorDocument, { lifecycle_id }: LoadReference): Stamp {
  return { saved_by: 'service:connector-load', source: `connector ${name} (${_id})`.slice(0, 300), recorded_at: epochSeconds(), lifecycle_id };
}

async function requestOf({ actions }: Mongo['collections'], connector: ConnectorDocument, load: LoadReference): Promise<CallActionRequest> {
  const { _id, projectID, name, category, data_loader_config: loader } = connector;
  const own: ActionPlan = {
    ...{ _id: 'load', name: `load ${name}`, category, method: 'GET', endpoint: loader.path ?? '/', is_terminal: true, next_action_id: null },
    ...{ input_schema: { fields: [] }, output_schema: { fields: [] } },
  };
  const named = loader.action_id === undefined ? own : await actions.findOne({ _id: loader.action_id, projectID });
  if (!named) throw new AppError('not_found', 'the action that loads the data was not found');
  return {
    idempotency_key: `connector-load/${_id}/${load.lifecycle_id}`,
    project_id: projectID,
    connector_id: _id,
    action: named,
    context: { goal: `load ${name}`, input_variables: {}, runtime_inputs: {}, documents: [], outputs: [], actions: [] },
  };
}
