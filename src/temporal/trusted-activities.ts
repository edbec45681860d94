import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { isUntrusted, openSealed } from '../../workflows/trust/sealed.js';

/** Runs only activities that a workflow of this service has scheduled (decision 0009). */
export function trustedActivities(): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const workflowId = info.workflowExecution?.workflowId ?? '';
        const sealed = openSealed(input.args, ['activity', info.activityType, workflowId]);
        const values: unknown[] = [...input.args, info.heartbeatDetails];
        if (workflowId === '' || !sealed || values.some(isUntrusted))
          throw ApplicationFailure.nonRetryable(
            'the activity was refused, because no workflow of this service has scheduled it with this input',
            'untrusted_input',
          );
        return next({ ...input, args: sealed.args });
      },
    },
  });
}
