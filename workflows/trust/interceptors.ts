import { ApplicationFailure, log, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { agentflowExecutionType, operatorSignals } from '../agentflow-execution/messages.js';
import { isRunOfSchedule, isSealed, isUntrusted, openSealed, seal, type Message } from './sealed.js';

/** The longest time between the request of a client to start a workflow and its start, in seconds. */
const maxStartDelay = 600;

/**
 * Accepts only messages that the product sent to this workflow, and seals the messages that the workflow sends (decision
 * 0009). Ignores other signals, and refuses other updates and inputs.
 */
export function interceptors(): WorkflowInterceptors {
  return {
    inbound: [
      {
        execute(input, next) {
          const args = inputOf(input.args);
          return args ? next({ ...input, args }) : Promise.reject(refusal('the input of the workflow'));
        },
        handleSignal(input, next) {
          const { workflowType, workflowId } = workflowInfo();
          const args = openSealed(input.args, ['signal', input.signalName, workflowId])?.args;
          if (args) return next({ ...input, args });
          if (workflowType === agentflowExecutionType && operatorSignals.includes(input.signalName))
            return next({ ...input, args: [] });
          log.warn(refusal('a signal').message, { signal: input.signalName });
          return Promise.resolve();
        },
        validateUpdate(input, next) {
          next({ ...input, args: openUpdate(input) });
        },
        handleUpdate: (input, next) => next({ ...input, args: openUpdate(input) }),
        // The queries of the product have no arguments.
        handleQuery: (input, next) => next({ ...input, args: [] }),
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) =>
          next({ ...input, args: seal(activity(input.activityType), input.args) }).then(trustedResult),
        scheduleLocalActivity: (input, next) =>
          next({ ...input, args: seal(activity(input.activityType), input.args) }).then(trustedResult),
        signalWorkflow: (input, next) => {
          const { target, signalName } = input;
          const workflowId = target.type === 'child' ? target.childWorkflowId : target.workflowExecution.workflowId;
          return next({ ...input, args: seal(['signal', signalName, workflowId ?? ''], input.args) });
        },
        startChildWorkflowExecution: (input, next) => {
          const { workflowType, options } = input;
          const message: Message = ['child', workflowType, options.workflowId, workflowInfo().runId];
          return next({ ...input, options: { ...options, args: seal(message, options.args) } });
        },
        continueAsNew: (input, next) => {
          const { workflowType, workflowId, runId } = workflowInfo();
          return next({ ...input, args: seal(['continue', workflowType, workflowId, runId], input.args) });
        },
      },
    ],
  };

  function openUpdate({ name, updateId, args }: { name: string; updateId: string; args: unknown[] }): unknown[] {
    const opened = openSealed(args, ['update', name, workflowInfo().workflowId, updateId])?.args;
    if (!opened) throw refusal('an update');
    return opened;
  }
}

/** The input of a run, if the product sent it to this run. */
function inputOf(args: unknown[]): unknown[] | undefined {
  const { workflowType, workflowId, continuedFromExecutionRunId, parent, runStartTime } = workflowInfo();
  if (continuedFromExecutionRunId !== undefined)
    return openSealed(args, ['continue', workflowType, workflowId, continuedFromExecutionRunId])?.args;
  if (parent) return openSealed(args, ['child', workflowType, workflowId, parent.runId])?.args;
  const started = openSealed(args, ['start', workflowType, workflowId]);
  if (started) return runStartTime.getTime() / 1000 - started.sent_at <= maxStartDelay ? started.args : undefined;
  const [sealed] = args;
  const scheduledId = isSealed(sealed) ? sealed.sealed_for[2] : '';
  if (!isRunOfSchedule(workflowId, scheduledId)) return undefined;
  return openSealed(args, ['schedule', workflowType, scheduledId])?.args;
}

function activity(type: string): Message {
  return ['activity', type, workflowInfo().workflowId];
}

/** @throws ApplicationFailure `untrusted_input` if the result does not come from the activity */
function trustedResult<T>(result: T): T {
  if (isUntrusted(result) || isSealed(result)) throw refusal('the result of an activity');
  return result;
}

function refusal(what: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `${what} was refused, because this service did not send it`,
    'untrusted_input',
  );
}
