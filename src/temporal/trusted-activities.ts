import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { isSealed, isUntrusted, openSealed } from '../../workflows/trust/sealed.js';
import type { PayloadTrust } from './payload-trust.js';

/** Runs only activities that a workflow of this service has scheduled (decision 0117). */
export function trustedActivities(trust: PayloadTrust): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const workflowId = info.workflowExecution?.workflowId ?? '';
        const sealed = openSealed(input.args, ['activity', info.activityType, workflowId]);
        const values: unknown[] = [...input.args, info.heartbeatDetails];
        const isTrusted =
          workflowId !== '' &&
          !values.some(isUntrusted) &&
          (sealed !== undefined || (!values.some(isSealed) && Date.now() / 1000 < (await trust.acceptUnboundUntil())));
        if (!isTrusted)
          throw ApplicationFailure.nonRetryable(
            'the activity was refused, because no workflow of this service has scheduled it with this input',
            'untrusted_input',
          );
        return next({ ...input, args: sealed?.args ?? input.args });
      },
    },
  });
}
