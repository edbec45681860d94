import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { deliverEventUpdate, type EventReceipt } from '../../../../workflows/agentflow-execution/flow/events.js';
import { EventName } from '../../../../workflows/agentflow-execution/flow/flow-steps.js';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../../auth/principal.js';
import { AppError } from '../../../base/errors.js';
import { epochSeconds } from '../../../base/time.js';
import { isWorkflowGone } from '../../../temporal/client.js';
import { updateOnce } from '../../../temporal/update-once.js';
import type { Deps } from '../../deps.js';
import { currentStatus } from './moves.js';
import { readExecution } from './read.js';
import { noteShaper } from './shaped-by.js';

const maxDataLength = 256 * 1024;

const EventData = z
  .unknown()
  .refine((data) => (JSON.stringify(data)?.length ?? 0) <= maxDataLength, `must not exceed ${maxDataLength} characters`)
  .optional();

/** What the caller of an address sends. */
export const AddressedData = EventData.meta({
  description: 'Any JSON value: the output of the step that waits. Null without a body.',
  example: { amount: 120 },
});

export const NewEvent = z
  .strictObject({
    projectID: z.string().optional(),
    execution_id: z.string().optional(),
    name: EventName,
    data: EventData.describe('Any JSON value: the output of the step that waits. Null by default.'),
  })
  .meta({ id: 'ExecutionEventInput', example: { name: 'payment.received', data: { amount: 120 } } });
export type NewEvent = z.infer<typeof NewEvent>;

/**
 * Sends an event to a run, whose `wait` step takes it; with `step_id`, only that step. It is kept until the run is at such a step. Idempotent by `eventId`.
 * @throws AppError `not_found`, `conflict` (ended or not started, no step waits for the name, too many events)
 */
export async function deliverEvent(
  deps: Deps,
  principal: Principal,
  executionId: string,
  { name, data = null, step_id }: NewEvent & { step_id?: string },
  eventId: string,
): Promise<EventReceipt> {
  await readExecution(deps, principal, executionId, ['_id']);
  // What the event says shapes what the run does.
  await noteShaper(deps.mongo.collections, principal, executionId);
  const event = {
    ...{ id: eventId, name, data, by: principal.userId, at: epochSeconds() },
    ...(step_id !== undefined && { step_id }),
  };
  try {
    return await updateOnce(deps.temporal, executionWorkflowId(executionId), deliverEventUpdate, {
      args: [event],
      updateId: eventId,
    });
  } catch (error) {
    const refusal = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
    if (refusal instanceof ApplicationFailure && refusal.type === 'conflict')
      throw new AppError('conflict', refusal.message);
    if (error instanceof WorkflowUpdateFailedError || isWorkflowGone(error)) {
      const status = await currentStatus(deps, principal, executionId);
      throw new AppError('conflict', `the execution is ${status}: it waits for no event`);
    }
    throw error;
  }
}
