import { isCancellation } from '@temporalio/workflow';
import { epochSeconds } from '../../time.js';
import { isOfRun, noAuthority } from '../authority.js';
import { codeOf, stepMessageOf } from '../failure.js';
import type { PathState } from '../path-state.js';
import { beginAgent } from '../state.js';
import { actionResult } from '../steps/action.js';
import type { AgentflowCall } from '../steps/start-flow.js';
import { answerCall } from '../tools.js';
import type { FlowStepOf } from './flow-steps.js';
import type { FlowRun } from './flow-run.js';
import { runChild, stepsOfFlow } from './run-child.js';

/**
 * Runs the agentflow that an agent calls, as a `flow` step does, and gives its output to the agent. Returns early like
 * `runChild`. The model receives a failure as the answer to its call; that of a prescribed action ends the path.
 * @param place the id of the call within the run
 */
export async function runAgentflowCall(
  run: Pick<FlowRun, 'input' | 'state' | 'path' | 'untilQuiet'>,
  call: AgentflowCall,
  place: string,
): Promise<void> {
  const { state, path } = run;
  if (!path.current) beginAgent(state, path, call.agent, epochSeconds());
  try {
    const result = await runChild(run, stepsOfFlow(flowOf(call, place), call));
    if (result) keepOutput(path, call, result.output);
  } catch (error) {
    const endsPath = isCancellation(error) || isOfRun(error) || codeOf(error) === noAuthority;
    if (endsPath || call.callId === null || !path.current) throw error;
    path.child = null;
    path.failed_step_id = null;
    answerCall(path.current, call.callId, { error: { code: codeOf(error), message: stepMessageOf(error) } });
  }
}

/** The `flow` step to which the call is equivalent. Its goal and inputs come from the call. */
function flowOf({ action }: AgentflowCall, place: string): FlowStepOf<'flow'> {
  const { name: title, endpoint: agentflow_id, version } = action;
  const flow = { _id: place, type: 'flow', title, next: null, agentflow_id, inputs: {}, wait: true } as const;
  return version === undefined ? flow : { ...flow, version };
}

function keepOutput({ current }: PathState, { skill, action, callId }: AgentflowCall, output: unknown): void {
  if (!current) return;
  const result = actionResult({ skill, action }, output, undefined);
  if (callId === null) {
    current.results.push(result);
    return;
  }
  current.tool_results.push(result);
  answerCall(current, callId, output);
}
