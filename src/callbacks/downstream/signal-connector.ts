import { TypedSearchAttributes } from '@temporalio/common';
import {
  callbackSignal,
  connectorEventsType,
  connectorWorkflowId,
  type ConnectorCallback,
  type ConnectorEventsInput,
} from '../../../workflows/connector-events/messages.js';
import { searchAttributes } from '../../../workflows/search-attributes.js';
import type { BlobStore } from '../../stores/blobs.js';
import type { Temporal } from '../../temporal/client.js';
import type { Deliveries } from '../deliveries.js';

export interface ConnectorAddress {
  /** The connector's id, or that of a trigger that has none. */
  id: string;
  projectID: string;
  organization_id: string;
}

/** Resolves once Temporal has the callback; an event that was taken within 24 h is not taken again. */
export type SignalConnector = (address: ConnectorAddress, callback: ConnectorCallback) => Promise<void>;

const signalTimeoutMs = 5000;
const maxHistoryEvents = 5000;
/** Characters of a payload's JSON that a signal carries itself. */
const signalAtMost = 128 * 1024;

export function createConnectorSignaller({ temporal, deliveries, blobs }: { temporal: Temporal; deliveries: Deliveries; blobs: BlobStore }): SignalConnector {
  return async ({ id, projectID, organization_id }, callback) => {
    const known = callback.event_id === null ? undefined : `connector/${id}/${callback.event_id}`;
    if (known !== undefined && (await deliveries.seen(known))) return;
    const input: ConnectorEventsInput = { connector_id: id, max_history_events: maxHistoryEvents };
    const options = {
      taskQueue: temporal.taskQueue,
      workflowId: connectorWorkflowId(id),
      args: [input] as [ConnectorEventsInput],
      signal: callbackSignal,
      signalArgs: [await lightened(blobs, callback)] as [ConnectorCallback],
      memo: { project: projectID },
      staticSummary: 'Callbacks of a connector',
      typedSearchAttributes: new TypedSearchAttributes([
        { key: searchAttributes.projectId, value: projectID },
        { key: searchAttributes.organizationId, value: organization_id },
      ]),
    };
    await temporal.call((client) => client.workflow.signalWithStart(connectorEventsType, options), signalTimeoutMs);
    if (known !== undefined) await deliveries.remember(known);
  };
}

/** Large payloads go to the file store once, so that the workflow's state stays small to query and to continue as new with. */
async function lightened(blobs: BlobStore, callback: ConnectorCallback): Promise<ConnectorCallback> {
  const text = JSON.stringify(callback.payload.value);
  if (text.length <= signalAtMost) return callback;
  return { ...callback, payload: { encoding: callback.payload.encoding, value: null, location: await blobs.put(Buffer.from(text)) } };
}
