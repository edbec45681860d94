import type { ConnectorLoadInput, ConnectorLoadResult } from './messages.js';

export interface LoadReference extends ConnectorLoadInput {
  /** The id of the load, recorded in the provenance of what it saves. */
  lifecycle_id: string;
}

/** The activities of a connector's data loader. All are safe to repeat. */
export interface ConnectorLoadActivities {
  /** Reads the connector's records and upserts them into the graph. */
  loadConnector(load: LoadReference): Promise<ConnectorLoadResult>;
  /** Deletes or pauses the connector's schedule, according to the connector's record. */
  alignLoadSchedule(input: ConnectorLoadInput): Promise<void>;
  /** Stores the lifecycle and the audit entry. */
  recordConnectorLoad(
    load: LoadReference & { started_at: number; result: ConnectorLoadResult | null; failure: string | null },
  ): Promise<void>;
}
