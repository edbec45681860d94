import type { ConnectorLoadInput, ConnectorLoadResult } from './messages.js';

export interface LoadReference extends ConnectorLoadInput {
  /** The load's own id, which stands in the provenance of what it saves. */
  lifecycle_id: string;
}

/** The outside of a connector's data loader; all may be repeated. */
export interface ConnectorLoadActivities {
  /** Reads the connector's records and upserts them into the graph. */
  loadConnector(load: LoadReference): Promise<ConnectorLoadResult>;
  /** Takes the schedule of a connector away or pauses it, as its record says. */
  alignLoadSchedule(input: ConnectorLoadInput): Promise<void>;
  /** Stores the lifecycle and the audit entry. */
  recordConnectorLoad(load: LoadReference & { started_at: number; result: ConnectorLoadResult | null; failure: string | null }): Promise<void>;
}
