/** What a client needs to schedule a `connectorLoad` (design, Workflows). */
export const connectorLoadType = 'connectorLoad';

/** The id of the schedule, and the beginning of the ids of its runs. */
export function connectorLoadId(connectorId: string): string {
  return `connector-load/${connectorId}`;
}

export interface ConnectorLoadInput {
  connector_id: string;
  project_id: string;
  organization_id: string;
}

/** `gone` and `inactive`: there was nothing to load, and the schedule was brought into line with the connector. */
export interface ConnectorLoadResult {
  outcome: 'loaded' | 'gone' | 'inactive';
  /** Records that became entities, and those that have no id or name to be one by. */
  saved: number;
  skipped: number;
}
