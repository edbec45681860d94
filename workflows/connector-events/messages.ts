import { defineQuery, defineSignal } from '@temporalio/workflow';

/** What clients and operators use to work with a `connectorEvents` (design, Workflows). */
export const connectorEventsType = 'connectorEvents';

export function connectorWorkflowId(id: string): string {
  return `connector/${id}`;
}

/** One coworker that a callback starts. It includes the execution's id, so that the execution is created once. */
export interface CoworkerStart {
  execution_id: string;
  agentflow_id: string;
  goal: string;
  organization_id: string;
  project_id: string;
  user_id: string;
}

/** The body: the value of JSON and forms, other text unchanged, anything else in base64. */
export interface CallbackPayload {
  encoding: 'json' | 'form' | 'text' | 'base64';
  value: unknown;
  /** Where the file store has the value's JSON if it is too large for a signal; `value` is then null. */
  location?: string;
}

export interface ConnectorCallback {
  /** Copies of an event have the same id, by which a repeat is recognized. */
  callback_id: string;
  /** The provider's id of the event, by which a repeat is recognized; null if the provider sent none. */
  event_id: string | null;
  kind: 'notify' | 'event' | 'voice' | 'media';
  event: string;
  /** Epoch seconds. */
  received_at: number;
  payload: CallbackPayload;
  /** The account that the provider's hosted authentication reported. */
  account_id: string | null;
  starts: CoworkerStart[];
}

export interface ConnectorEventsInput {
  connector_id: string;
  /** The run continues as new when its history has this many events, or when the server suggests it. */
  max_history_events: number;
  resumed?: ConnectorEventsState;
}

/** A callback whose activities had a transient failure goes back to `pending` until its next attempt. */
export interface PendingCallback extends ConnectorCallback {
  /** Epoch milliseconds. */
  not_before?: number;
  attempts?: number;
}

/** Plain JSON and complete: it is passed to the next run by continue-as-new, and the query returns it. */
export interface ConnectorEventsState {
  pending: PendingCallback[];
  /** Ids of the most recent events, so that a repeat starts nothing. */
  seen: string[];
  handled: number;
  failures: { callback_id: string; type: string; message: string }[];
}

export const callbackSignal = defineSignal<[ConnectorCallback]>('callback');
export const stateQuery = defineQuery<ConnectorEventsState>('state');
