/** What clients use to schedule a `connectorLoad` (design, Workflows). */
export const connectorLoadType = 'connectorLoad';

/** The id of the schedule, and the prefix of the ids of its runs. */
export function connectorLoadId(connectorId: string): string {
  return `connector-load/${connectorId}`;
}

export interface ConnectorLoadInput {
  connector_id: string;
  project_id: string;
  organization_id: string;
}

/** `gone` and `inactive`: there was nothing to load, and the schedule was deleted or paused like the connector. */
export interface ConnectorLoadResult {
  outcome: 'loaded' | 'gone' | 'inactive';
  /** The number of records that became entities, and of those skipped because they have no id or name. */
  saved: number;
  skipped: number;
}
