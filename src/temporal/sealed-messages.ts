import type { ScheduleOptionsAction, WorkflowClientInterceptor } from '@temporalio/client';
import { seal } from '../../workflows/trust/sealed.js';
import { newId } from '../base/ids.js';

/** Seals each message that a client sends to a workflow, because workflows accept no other messages (decision 0009). */
export const sealedMessages: WorkflowClientInterceptor = {
  startWithDetails(input, next) {
    const { workflowType, options } = input;
    const args = seal(['start', workflowType, options.workflowId], options.args);
    return next({ ...input, options: { ...options, args } });
  },
  signalWithStart(input, next) {
    const { workflowType, signalName, options } = input;
    const { workflowId } = options;
    return next({
      ...input,
      signalArgs: seal(['signal', signalName, workflowId], input.signalArgs),
      options: { ...options, args: seal(['start', workflowType, workflowId], options.args) },
    });
  },
  signal(input, next) {
    const workflowId = input.workflowExecution.workflowId ?? '';
    return next({ ...input, args: seal(['signal', input.signalName, workflowId], input.args) });
  },
  startUpdate(input, next) {
    const workflowId = input.workflowExecution.workflowId ?? '';
    const updateId = input.options.updateId ?? newId();
    const args = seal(['update', input.updateName, workflowId, updateId], input.args);
    return next({ ...input, args, options: { ...input.options, updateId } });
  },
};

/** Seals the input of the workflows that a Temporal Schedule starts. */
export function sealedAction<T extends { workflowType: string; workflowId: string; args: unknown[] }>(
  action: T,
): Omit<T, 'args'> & Pick<ScheduleOptionsAction, 'args'> {
  return { ...action, args: seal(['schedule', action.workflowType, action.workflowId], action.args) };
}
