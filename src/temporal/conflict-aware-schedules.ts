import { ScheduleClient, type Client, type ConnectionLike, type WorkflowService } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';

type Describe = Parameters<WorkflowService['describeSchedule']>[0];
type Update = Parameters<WorkflowService['updateSchedule']>[0];

/**
 * A client for one update of one schedule that sends the conflict token of the description which the update was made
 * from. The SDK's own sends none, and would set back Temporal's countdown of a limit by the runs in between. The server
 * drops an update whose token is old without a word: look whether it was taken.
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
  const service = Object.create(workflowService, { describeSchedule: { value: describeSchedule }, updateSchedule: { value: updateSchedule } }) as WorkflowService;
  const connection = Object.create(client.connection, { workflowService: { value: service } }) as ConnectionLike;
  return new ScheduleClient({ connection, dataConverter, namespace: client.options.namespace });
}
