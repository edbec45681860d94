import { ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleSpec } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { connectorLoadId, connectorLoadType, type ConnectorLoadInput } from '../../workflows/connector-load/messages.js';
import { searchAttributes } from '../../workflows/search-attributes.js';
import { AppError } from '../errors.js';
import type { Temporal } from '../temporal/client.js';
import { isLoaded, namedFrequencies, type ConnectorDocument, type DataLoaderConfig } from './connector.js';
import { findConnector, type ConnectorCollections } from './store.js';

export type LoadedConnector = Pick<ConnectorDocument, '_id' | 'projectID' | 'organization_id' | 'data_loader_config'>;

/**
 * The data loaders of connectors as Temporal Schedules `connector-load/<connector id>`. A schedule is started before its
 * connector is stored as active and taken back after it; whoever dies between leaves a schedule that is too much alive,
 * and that one's next firing aligns it.
 */
export interface LoadSchedules {
  /** Makes the schedule, which then loads at once, or wakes one that was paused. @throws AppError `invalid_request` for a cron text that means nothing */
  start(connector: LoadedConnector): Promise<void>;
  /** Does to the schedule what the stored connector asks for: runs, is paused, is gone. */
  align(connectorId: string): Promise<void>;
}

const callMs = 5000;

export function createLoadSchedules({ collections, temporal }: { collections: ConnectorCollections; temporal: Temporal }): LoadSchedules {
  const schedules: LoadSchedules = {
    async start(connector) {
      try {
        await temporal.call((client) => client.schedule.create(scheduleOf(connector, temporal.taskQueue)), callMs);
      } catch (error) {
        // The client tells the server's INVALID_ARGUMENT by a TypeError.
        if (error instanceof ScheduleAlreadyRunning) await onSchedule(temporal, connector._id, 'unpause');
        else throw error instanceof TypeError ? new AppError('invalid_request', 'data_loader_config.frequency: is no cron text', { cause: error }) : error;
      }
    },

    async align(connectorId) {
      // Whoever moves the connector meanwhile is noticed by the second look.
      for (let before = await wantedOf(collections, connectorId); ; ) {
        if (before.wanted === 'active') await schedules.start(before.connector);
        else await onSchedule(temporal, connectorId, before.wanted === 'gone' ? 'delete' : 'pause');
        const after = await wantedOf(collections, connectorId);
        if (after.wanted === before.wanted) return;
        before = after;
      }
    },
  };
  return schedules;
}

type Wanted = { wanted: 'active'; connector: ConnectorDocument } | { wanted: 'inactive' | 'gone' };

async function wantedOf(collections: ConnectorCollections, id: string): Promise<Wanted> {
  const connector = await findConnector(collections, id);
  if (!connector || !isLoaded(connector)) return { wanted: 'gone' };
  return connector.status === 'active' ? { wanted: 'active', connector } : { wanted: 'inactive' };
}

async function onSchedule(temporal: Temporal, connectorId: string, operation: 'unpause' | 'pause' | 'delete'): Promise<void> {
  try {
    await temporal.call((client) => client.schedule.getHandle(connectorLoadId(connectorId))[operation](), callMs);
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

function scheduleOf({ _id, projectID, organization_id, data_loader_config }: LoadedConnector, taskQueue: string) {
  const input: ConnectorLoadInput = { connector_id: _id, project_id: projectID, organization_id };
  const typedSearchAttributes = new TypedSearchAttributes([
    { key: searchAttributes.projectId, value: projectID },
    { key: searchAttributes.organizationId, value: organization_id },
  ]);
  return {
    scheduleId: connectorLoadId(_id),
    spec: specOf(data_loader_config),
    action: {
      type: 'startWorkflow' as const,
      workflowType: connectorLoadType,
      workflowId: connectorLoadId(_id),
      taskQueue,
      args: [input],
      staticSummary: "Load of a connector's data",
      typedSearchAttributes,
    },
    policies: { overlap: 'SKIP' as const, catchupWindow: '5m' as const },
    state: { triggerImmediately: true },
    typedSearchAttributes,
  };
}

/** `once` has no times at all: it is loaded when the schedule is made. */
function specOf({ frequency = 'interval', syncInterval = 0 }: DataLoaderConfig): ScheduleSpec {
  if (frequency === 'once') return {};
  if (frequency === 'interval') return { intervals: [{ every: `${syncInterval}s` }] };
  const seconds = namedFrequencies[frequency];
  return seconds === undefined ? { cronExpressions: [frequency] } : { intervals: [{ every: `${seconds}s` }] };
}
