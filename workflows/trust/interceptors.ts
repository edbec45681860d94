import { ApplicationFailure, log, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { agentflowExecutionType, operatorSignals } from '../agentflow-execution/messages.js';
import { isAcceptedUnbound, isRunOfSchedule, isSealed, isUntrusted, openSealed, seal, type Message } from './sealed.js';

/** The longest time between the request of a client to start a workflow and its start, in seconds. */
const maxStartDelay = 600;

/**
 * Accepts only messages that the product sent to this workflow, and seals the messages that the workflow sends (decision
 * 0117). Ignores other signals, and refuses other updates and inputs.
 */
export function interceptors(): WorkflowInterceptors {
  /** A run of an earlier release began with an input that is not sealed, and gets such messages in its history. */
  let isOfEarlierRelease = false;
  /** Without a further turn of the event loop in runs of earlier releases, which did not check results. */
  const checked = <T>(result: Promise<T>): Promise<T> => (isOfEarlierRelease ? result : result.then(trustedResult));
  const open = (args: unknown[], message: Message): unknown[] | undefined =>
    openSealed(args, message)?.args ??
    (isOfEarlierRelease && !args.some((arg) => isUntrusted(arg) || isSealed(arg)) ? args : undefined);

  return {
    inbound: [
      {
        execute(input, next) {
          isOfEarlierRelease =
            input.args.length > 0 && input.args.every(isAcceptedUnbound) && !input.args.some(isSealed);
          const args = isOfEarlierRelease ? input.args : inputOf(input.args);
          return args ? next({ ...input, args }) : Promise.reject(refusal('the input of the workflow'));
        },
        handleSignal(input, next) {
          const { workflowType, workflowId } = workflowInfo();
          const args = open(input.args, ['signal', input.signalName, workflowId]);
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
          checked(next({ ...input, args: seal(activity(input.activityType), input.args) })),
        scheduleLocalActivity: (input, next) =>
          checked(next({ ...input, args: seal(activity(input.activityType), input.args) })),
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
    const opened = open(args, ['update', name, workflowInfo().workflowId, updateId]);
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
