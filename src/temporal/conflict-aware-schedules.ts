import { ScheduleClient, type Client, type ConnectionLike, type WorkflowService } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';

type Describe = Parameters<WorkflowService['describeSchedule']>[0];
type Update = Parameters<WorkflowService['updateSchedule']>[0];

/**
 * Creates a client for one update of one schedule. It sends the conflict token of the description on which the update
 * is based. The SDK sends none, so its update would restore an old count of remaining runs. The server silently drops
 * an update with an old token, so check whether it was applied.
 */
export function conflictAwareSchedules(client: Client, dataConverter: DataConverter): ScheduleClient {
  const { workflowService } = client;
  let conflictToken: Uint8Array | null | undefined;
  const describeSchedule = async (request: Describe) => {
    const description = await workflowService.describeSchedule(request);
    conflictToken = description.conflictToken;
    return description;
  };
  const updateSchedule = (request: Update) => workflowService.updateSchedule({ ...request, conflictToken });
  const service = Object.create(workflowService, {
    describeSchedule: { value: describeSchedule },
    updateSchedule: { value: updateSchedule },
  }) as WorkflowService;
  const connection = Object.create(client.connection, { workflowService: { value: service } }) as ConnectionLike;
  return new ScheduleClient({ connection, dataConverter, namespace: client.options.namespace });
}
