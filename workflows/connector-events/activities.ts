import type { ConnectorCallback, CoworkerStart } from './messages.js';

export interface StartCoworkerRequest {
  start: CoworkerStart;
  connector_id: string;
  callback: Omit<ConnectorCallback, 'starts'>;
}

/** What a connector's callbacks cause. All are safe to repeat. */
export interface ConnectorEventsActivities {
  /** Fetches the reported account from its provider and sets the connector's status accordingly. */
  verifyAccount(request: { connector_id: string; account_id: string | null }): Promise<{ status: string }>;
  /** Prepares and executes the coworker's execution. */
  startCoworker(request: StartCoworkerRequest): Promise<{ execution_id: string }>;
}
