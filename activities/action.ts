import { AppError } from '../src/errors.js';
import type { HttpClient } from '../src/outbound/http-client.js';
import type { AgentflowExecutionActivities, CallActionRequest } from '../workflows/agentflow-execution/activities.js';
import { checkOutput } from './action-fields.js';
import { readRestfulAnswer } from './restful-answer.js';
import { restfulCall } from './restful-call.js';
import { asStep } from './step.js';

/** Below the two minutes that the workflow gives the step, so that the failure tells its cause. */
const timeoutMs = 100_000;

/** One call of an action. */
export function createActionActivities({ http }: { http: HttpClient }): Pick<AgentflowExecutionActivities, 'callAction'> {
  return { callAction: (request) => asStep((signal) => call(http, request, signal)) };
}

async function call(http: HttpClient, request: CallActionRequest, signal: AbortSignal): Promise<unknown> {
  const { action } = request;
  if (action.category !== 'restful') {
    throw new AppError('unconfigured', `the action "${action.name}" needs a connector of the category ${action.category}`);
  }
  const answer = await http.request({ ...restfulCall(request), timeoutMs, signal });
  const output = readRestfulAnswer(action.name, answer);
  checkOutput(action, output);
  return output;
}
