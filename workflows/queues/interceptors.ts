import { workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { queueOfActivity } from './queues.js';

/** Sends each activity to the queue of its kind. A replay does not compare queues. */
export function interceptors(): WorkflowInterceptors {
  return {
    outbound: [
      {
        scheduleActivity: (input, next) => {
          const taskQueue = queueOfActivity(workflowInfo().taskQueue, input.activityType);
          return next({ ...input, options: { ...input.options, taskQueue } });
        },
      },
    ],
  };
}
