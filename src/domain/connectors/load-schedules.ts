import { ScheduleAlreadyRunning, type ScheduleSpec } from '@temporalio/client';
import {
  connectorLoadId,
  connectorLoadType,
  type ConnectorLoadInput,
} from '../../../workflows/connector-load/messages.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import { AppError } from '../../base/errors.js';
import { onScheduleIfAny, type Temporal } from '../../temporal/client.js';
import { readCron, timesOfCron } from '../../temporal/cron.js';
import { calendarSpecs } from '../../temporal/local-times.js';
import { priorityOf } from '../../temporal/priority.js';
import { sealedAction } from '../../temporal/sealed-messages.js';
import { isLoaded, namedFrequencies, type ConnectorDocument, type DataLoaderConfig } from './record.js';
import { findConnector, type ConnectorCollections } from './operations/store.js';

type LoadedConnector = Pick<ConnectorDocument, '_id' | 'projectID' | 'organization_id' | 'data_loader_config'>;

/**
 * The data loaders of connectors, as Temporal Schedules named `connector-load/<connector id>`. A schedule is started before
 * its connector becomes active, and stopped after the connector becomes inactive. If the process crashes in between, the
 * schedule is still active, and its next run calls `align`.
 */
export function createLoadSchedules({
  collections,
  temporal,
}: {
  collections: ConnectorCollections;
  temporal: Temporal;
}) {
  const onScheduleOf = (connectorId: string, operation: 'pause' | 'trigger' | 'delete') =>
    onScheduleIfAny<unknown>(temporal, connectorLoadId(connectorId), (handle) => handle[operation]());

  /** Creates the schedule and loads immediately, or updates and unpauses an existing one. @throws AppError `invalid_request` for an invalid cron expression */
  async function start(connector: LoadedConnector): Promise<void> {
    try {
      await temporal
        .call((client) => client.schedule.create(scheduleOf(connector, temporal.taskQueue)))
        .catch((error: unknown) => {
          if (error instanceof ScheduleAlreadyRunning) return updateSchedule(temporal, connector);
          throw error;
        });
    } catch (error) {
      throw toAppError(error);
    }
  }

  /** Brings the schedule in line with the stored connector: running, paused or deleted. */
  async function align(connectorId: string): Promise<void> {
    // The second read detects a concurrent change of the connector.
    for (let before = await readWanted(collections, connectorId); ;) {
      if (before.wanted === 'active') await start(before.connector);
      else await onScheduleOf(connectorId, before.wanted === 'deleted' ? 'delete' : 'pause');
      const after = await readWanted(collections, connectorId);
      if (after.wanted === before.wanted) return;
      before = after;
    }
  }

  return {
    start,
    align,
    /** After a change of the loader: aligns the schedule and loads immediately. */
    async reload(connectorId: string): Promise<void> {
      await align(connectorId);
      const { wanted } = await readWanted(collections, connectorId);
      if (wanted === 'active') await onScheduleOf(connectorId, 'trigger');
    },
  };
}

export type LoadSchedules = ReturnType<typeof createLoadSchedules>;

async function updateSchedule(temporal: Temporal, connector: LoadedConnector): Promise<void> {
  const { action, spec, policies } = scheduleOf(connector, temporal.taskQueue);
  await temporal.call((client) =>
    client.schedule
      .getHandle(connectorLoadId(connector._id))
      .update(() => ({ action, spec, policies, state: { paused: false } })),
  );
}

/** The client reports the server's INVALID_ARGUMENT as a TypeError. */
function toAppError(error: unknown): unknown {
  return error instanceof TypeError
    ? new AppError('invalid_request', 'data_loader_config.frequency: must be a valid cron expression', { cause: error })
    : error;
}

type Wanted = { wanted: 'active'; connector: ConnectorDocument } | { wanted: 'inactive' | 'deleted' };

async function readWanted(collections: ConnectorCollections, id: string): Promise<Wanted> {
  const connector = await findConnector(collections, id);
  if (!connector || !isLoaded(connector)) return { wanted: 'deleted' };
  return connector.status === 'active' ? { wanted: 'active', connector } : { wanted: 'inactive' };
}

function scheduleOf({ _id, projectID, organization_id, data_loader_config }: LoadedConnector, taskQueue: string) {
  const input: ConnectorLoadInput = { connector_id: _id, project_id: projectID, organization_id };
  const typedSearchAttributes = attributePairs({ projectId: projectID, organizationId: organization_id });
  return {
    scheduleId: connectorLoadId(_id),
    spec: specOf(data_loader_config),
    action: sealedAction({
      type: 'startWorkflow' as const,
      workflowType: connectorLoadType,
      workflowId: connectorLoadId(_id),
      taskQueue,
      priority: priorityOf(connectorLoadType, organization_id),
      args: [input],
      staticSummary: "Load of a connector's data",
      typedSearchAttributes,
    }),
    policies: { overlap: 'SKIP' as const, catchupWindow: '5m' as const },
    state: { triggerImmediately: true },
    typedSearchAttributes,
  };
}

/** `once` has no scheduled times: the data is loaded when the schedule is created. */
function specOf({ frequency = 'interval', syncInterval = 0 }: DataLoaderConfig): ScheduleSpec {
  if (frequency === 'once') return {};
  if (frequency === 'interval') return { intervals: [{ every: `${syncInterval}s` }] };
  const seconds = namedFrequencies[frequency];
  if (seconds !== undefined) return { intervals: [{ every: `${seconds}s` }] };
  const local = timesOfCron(readCron(frequency));
  return { calendars: calendarSpecs(local), timezone: local.time_zone };
}
