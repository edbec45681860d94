import { setImmediate } from 'node:timers/promises';
import type { ActionPlan } from '../../../workflows/agentflow-execution/messages.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import type { ConnectorLoadActivities, LoadReference } from '../../../workflows/connector-load/activities.js';
import type { ConnectorLoadResult } from '../../../workflows/connector-load/messages.js';
import { AppError } from '../../base/errors.js';
import { permitServiceRun, recordServiceRun, type ServiceRecorderDeps } from '../../governance/service-record.js';
import { save } from '../../graph/save/save.js';
import type { Stamp } from '../../graph/store/provenance.js';
import type { Mongo } from '../../stores/mongo.js';
import { epochSeconds } from '../../base/time.js';
import { batches } from '../batches.js';
import type { Deps } from '../deps.js';
import { connectorLoad } from '../service-operations.js';
import { entitiesOf, recordsIn } from './loaded-entities.js';
import type { ConnectorDocument } from './record.js';
import { findConnector, pauseIfPowerless } from './operations/store.js';

export interface ConnectorLoadDeps extends Pick<Deps, 'kernel' | 'mongo' | 'graph' | 'governance'> {
  callAction(request: CallActionRequest, options: { signal: AbortSignal; maxBytes: number }): Promise<unknown>;
}

const maxBytes = 10 * 1024 * 1024;

/** Reads a connector's records with one action call, and upserts them as entities. @throws AppError if the rules refuse it */
export async function loadConnector(
  { kernel, mongo: { collections }, graph, callAction }: ConnectorLoadDeps,
  load: LoadReference,
  signal: AbortSignal,
): Promise<ConnectorLoadResult> {
  const connector = await findConnector(collections, load.connector_id);
  if (!connector) return emptyResult('gone');
  if (connector.status !== 'active' || (await pauseIfPowerless(collections, connector, ['svc:ontology.write'])))
    return emptyResult('inactive');
  const { connector_id } = load;
  await permitServiceRun(kernel, connectorLoad, runOf(load), { entrance: 'load', input: { connector_id } });
  const answer = await callAction(await requestOf(collections, connector, load), { signal, maxBytes });
  const ids = new Set<string>();
  let skipped = 0;
  // Works in batches, because one pass over a million records would block heartbeats and all other activities.
  for (const batch of batches(recordsIn(connector.data_loader_config, answer))) {
    const { entities, skipped: unread } = entitiesOf(connector, batch);
    if (entities.length > 0)
      await save(graph, connector.projectID, { entities, relationships: [], facts: [] }, stampOf(connector, load));
    for (const { id } of entities) ids.add(id);
    skipped += unread;
    await setImmediate();
    signal.throwIfAborted();
  }
  return { outcome: 'loaded', saved: ids.size, skipped };
}

function runOf({ connector_id, project_id, organization_id, lifecycle_id }: LoadReference) {
  return { lifecycle_id, project_id, organization_id, resource: `connector:${connector_id}` };
}

function emptyResult(outcome: 'gone' | 'inactive'): ConnectorLoadResult {
  return { outcome, saved: 0, skipped: 0 };
}

function stampOf({ _id, name }: ConnectorDocument, { lifecycle_id }: LoadReference): Stamp {
  return {
    saved_by: 'service:connector-load',
    source: `connector ${name} (${_id})`.slice(0, 300),
    recorded_at: epochSeconds(),
    lifecycle_id,
  };
}

async function requestOf(
  { actions }: Mongo['collections'],
  connector: ConnectorDocument,
  load: LoadReference,
): Promise<CallActionRequest> {
  const { _id, projectID, name, category, data_loader_config: loader } = connector;
  const readAction: ActionPlan = {
    ...{
      _id: 'load',
      name: `load ${name}`,
      category,
      method: 'GET',
      endpoint: loader.path ?? '/',
      is_terminal: true,
      next_action_id: null,
    },
    ...{ input_schema: { fields: [] }, output_schema: { fields: [] } },
  };
  const named =
    loader.action_id === undefined ? readAction : await actions.findOne({ _id: loader.action_id, projectID });
  if (!named) throw new AppError('not_found', 'the action that loads the data was not found');
  return {
    idempotency_key: `connector-load/${_id}/${load.lifecycle_id}`,
    project_id: projectID,
    connector_id: _id,
    after_seq: 0,
    action: named,
    context: { goal: `load ${name}`, input_variables: {}, runtime_inputs: {}, documents: [], outputs: [], actions: [] },
  };
}

/** Stores the lifecycle and the audit entry of a load. */
export async function recordConnectorLoad(
  deps: ServiceRecorderDeps,
  load: Parameters<ConnectorLoadActivities['recordConnectorLoad']>[0],
): Promise<void> {
  const { started_at, result, failure } = load;
  const detail = failure ?? `${result?.saved ?? 0} records saved, ${result?.skipped ?? 0} skipped`;
  await recordServiceRun(deps, connectorLoad.name, runOf(load), { failed: failure !== null, detail, started_at });
}
