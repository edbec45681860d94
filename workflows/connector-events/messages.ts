import { defineQuery, defineSignal } from '@temporalio/workflow';

/** What a client or an operator needs to talk to a `connectorEvents` (design, Workflows). */
export const connectorEventsType = 'connectorEvents';

/** `id` is a connector's, or that of a voice or media trigger that has none. */
export function connectorWorkflowId(id: string): string {
  return `connector/${id}`;
}

/** One coworker that a callback starts; the execution's id is given with it, so that it is made once. */
export interface CoworkerStart {
  execution_id: string;
  agentflow_id: string;
  goal: string;
  organization_id: string;
  project_id: string;
  user_id: string;
}

/** What the body was: JSON and forms as their value, other text as it is, anything else in base64. */
export interface CallbackPayload {
  encoding: 'json' | 'form' | 'text' | 'base64';
  value: unknown;
  /** Where the value's JSON lies in the file store, when it is too large for a signal; `value` is null then. */
  location?: string;
}

export interface ConnectorCallback {
  callback_id: string;
  /** The provider's own id of the event, by which a repeat is known; null where it gave none. */
  event_id: string | null;
  kind: 'notify' | 'event' | 'voice' | 'media';
  event: string;
  /** Epoch seconds. */
  received_at: number;
  payload: CallbackPayload;
  /** The account that a hosted authentication reported. */
  account_id: string | null;
  starts: CoworkerStart[];
}

export interface ConnectorEventsInput {
  connector_id: string;
  /** Continue as new when the history holds so many events; the server's own suggestion counts as well. */
  max_history_events: number;
  resumed?: ConnectorEventsState;
}

/** Plain JSON and complete: it is carried over continue-as-new and is what the query answers. */
export interface ConnectorEventsState {
  pending: ConnectorCallback[];
  /** Ids of the newest events, so that a repeat that came at the same time starts nothing. */
  seen: string[];
  handled: number;
  failures: { callback_id: string; type: string; message: string }[];
}

export const callbackSignal = defineSignal<[ConnectorCallback]>('callback');
export const stateQuery = defineQuery<ConnectorEventsState>('state');
