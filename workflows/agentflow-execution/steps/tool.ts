import { codeOf, stepMessageOf } from '../failure.js';
import { agentAtWork } from '../paths.js';
import { answerCall, type PendingCall } from '../tools.js';
import {
  actionInput,
  actionResult,
  callProfile,
  callRequest,
  type ActionActivities,
  type ActionStep,
} from './action.js';
import type { StepDefinition } from './definition.js';

/** An action that the model called in one of its turns. */
export interface ToolStep extends Omit<ActionStep, 'kind'> {
  kind: 'tool';
  turn: number;
  call: PendingCall;
}

export const tool: StepDefinition<ToolStep, ActionActivities> = {
  kind: 'tool',
  shownAs: 'action',
  isAgentWork: true,
  activity: 'callAction',
  isAct: true,
  profile: callProfile,
  id: ({ agent, turn, call }) => `${agent._id}/turn-${turn}/${call.index}`,
  name: ({ action }) => action.name,
  run: ({ callAction }, step, run) => {
    const { agent, action, call } = step;
    return callAction(callRequest(step, run, actionInput(run, agent, action, call.id, call.arguments)));
  },
  keep: (output, step, { state, path, edits }) => {
    const current = agentAtWork(state, path);
    if (!current) return;
    current.tool_results.push(actionResult(step, output, edits));
    // The answer shows the model that an approver edited its call.
    answerCall(current, step.call.id, edits ? { edited_by_approver: edits, result: output } : output);
  },
  // The model receives the error as the answer to its call.
  continueAfter: (error, { call }, { state, path }) => {
    const current = agentAtWork(state, path);
    if (current) answerCall(current, call.id, { error: { code: codeOf(error), message: stepMessageOf(error) } });
  },
};
