import {
  callbackSignal,
  connectorEventsType,
  connectorWorkflowId,
  type ConnectorCallback,
  type ConnectorEventsInput,
  type CoworkerStart,
} from '../../../workflows/connector-events/messages.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import { derivedId, newId, timeOfId } from '../../base/ids.js';
import type { EncryptedBlobStore } from '../../stores/encrypted-blobs.js';
import type { Temporal } from '../../temporal/client.js';
import type { Deliveries } from './deliveries.js';

interface ConnectorAddress {
  id: string;
  projectID: string;
  organization_id: string;
}

/** Identifies copies of an event, and how long a repeat is recognized. */
export interface EventIdentity {
  key: string;
  keptForMs: number;
}

export type ReceivedCallback = Omit<ConnectorCallback, 'callback_id' | 'starts'> & {
  /** Null for a callback that may be processed more than once. */
  identity: EventIdentity | null;
  /** The JSON of a payload that is too large for a signal. */
  stored: Uint8Array | null;
  starts: Omit<CoworkerStart, 'execution_id'>[];
};

/** Resolves when Temporal has accepted the callback. Copies of an event become one callback with the same executions. */
export type SignalConnector = (address: ConnectorAddress, callback: ReceivedCallback) => Promise<void>;

const maxHistoryEvents = 5000;

export function createConnectorSignaller({
  temporal,
  deliveries,
  blobs,
}: {
  temporal: Temporal;
  deliveries: Deliveries;
  blobs: EncryptedBlobStore;
}): SignalConnector {
  return async ({ id, projectID, organization_id }, { identity, stored, ...received }) => {
    const known = identity && `connector/${id}/${identity.key}`;
    const claimed =
      identity && known
        ? await deliveries.claim(known, identity.keptForMs)
        : { callback_id: newId(), isHandedOver: false };
    if (claimed.isHandedOver) return;
    const callback = withIds(claimed.callback_id, received);
    // Keeps the state of the workflow small.
    if (stored !== null) callback.payload.location = await blobs.put(stored, organization_id);
    const input: ConnectorEventsInput = { connector_id: id, max_history_events: maxHistoryEvents };
    const options = {
      taskQueue: temporal.taskQueue,
      workflowId: connectorWorkflowId(id),
      args: [input] as [ConnectorEventsInput],
      signal: callbackSignal,
      signalArgs: [callback] as [ConnectorCallback],
      memo: { project: projectID },
      staticSummary: 'Callbacks of a connector',
      typedSearchAttributes: attributePairs({ projectId: projectID, organizationId: organization_id }),
    };
    await temporal.call((client) => client.workflow.signalWithStart(connectorEventsType, options));
    if (known) await deliveries.remember(known);
  };
}

/** Derives the execution ids from the callback id, so that every copy of an event starts the same executions. */
function withIds(
  callback_id: string,
  { starts, ...callback }: Omit<ReceivedCallback, 'identity' | 'stored'>,
): ConnectorCallback {
  const at = timeOfId(callback_id) ?? callback.received_at;
  return {
    ...callback,
    callback_id,
    starts: starts.map((start, index) => ({ ...start, execution_id: derivedId(at, `${callback_id}/${index}`) })),
  };
}
