interface FailureWords {
  /** What went wrong, in a sentence without its full stop. */
  cause: string;
  /** What a person can do about it. */
  help: string;
}

const rerunLater = 'Rerun from the failed step when it works again.';
const thenRerun = 'Then rerun from the failed step with the agentflow as it is saved now.';
const inputOrAgentflow = `If an input is wrong, rerun with another one. If the agentflow is wrong, correct it. ${thenRerun}`;

const ofCalls = {
  action_refused: {
    cause: 'A service refused a call',
    help: `Open the failed step to see what was sent and answered. ${inputOrAgentflow}`,
  },
  action_unavailable: {
    cause: 'A service did not work, even after several attempts',
    help: `Ask the operator of the service. ${rerunLater}`,
  },
  authorization_needed: {
    cause: 'A server needs the authorization of a person',
    help: 'Authorize the connector on its page. Then rerun from the failed step.',
  },
  model_answer_unusable: {
    cause: 'The model gave no answer that can be used',
    help: 'Check that the address of the model is right. Rerun from the failed step, or choose another model for the agent.',
  },
  model_refused: {
    cause: 'The model endpoint refused the request',
    help: 'Check its key, its credit and the name of the model, or shorten what the agent reads. Then rerun from the failed step.',
  },
  model_token_limit: {
    cause: 'The token limit of the agent was too low for an answer',
    help: `Raise the maximum tokens of the agent. ${thenRerun}`,
  },
  model_unavailable: {
    cause: 'The model did not work, even after several attempts',
    help: `Wait, or choose another model for the agent. ${rerunLater}`,
  },
  outcome_unknown: {
    cause: 'Nobody knows whether a call has taken effect',
    help: 'Check in the called service whether it did. Rerun from the failed step only if it did not.',
  },
  target_refused: {
    cause: 'This service may not call the address',
    help: `Use an address that agents may call. ${thenRerun}`,
  },
  timeout: {
    cause: 'Something did not happen in time',
    help: 'Open the failed step to see what it waited for. Then rerun from it.',
  },
  too_large: { cause: 'An answer or an input was too large', help: `Let the step read or return less. ${thenRerun}` },
  tool_not_accepted: {
    cause: 'A tool of an MCP server is not accepted',
    help: 'Accept the tool on the page of its connector. Then rerun from the failed step.',
  },
  tool_suspended: {
    cause: 'A tool of an MCP server has changed since it was accepted',
    help: 'Look at the change on the page of its connector, and accept it. Then rerun from the failed step.',
  },
  unreachable: { cause: 'A service could not be reached', help: `Check its address, and that it runs. ${rerunLater}` },
} satisfies Readonly<Record<string, FailureWords>>;

const ofRuns: Readonly<Record<string, FailureWords>> = {
  access_denied: {
    cause: 'The person of this run may not do what a step does',
    help: 'Ask an owner for a role that may, or let another person start the run.',
  },
  approval_expired: {
    cause: 'Nobody decided on a call in time',
    help: 'Rerun from the failed step. The call then asks for approval again.',
  },
  approval_rejected: {
    cause: 'A person rejected a call',
    help: 'The reason is what they wrote. Rerun with other inputs, or change the agentflow, if the call is still needed.',
  },
  cancelled: {
    cause: 'A person cancelled the run',
    help: 'Rerun it to continue from any agent or step that it has reached.',
  },
  internal_error: {
    cause: 'A step failed for a reason inside this service',
    help: 'Rerun from the failed step. If it fails again, send the execution id, which is under Details, to the operator of this service.',
  },
  limit_exceeded: {
    cause: 'A limit of the agent or of the flow was reached',
    help: `Raise the maximum turns, tokens or rounds, or make the task smaller. ${thenRerun}`,
  },
  lost: {
    cause: 'The workflow service no longer has this run',
    help: 'Rerun it from any agent or step that it has reached.',
  },
  no_authority: {
    cause: 'The person of this run no longer has a role that permits it',
    help: 'Give them the role again, or let another person start the run.',
  },
  not_found: {
    cause: 'Something that a step uses does not exist',
    help: `It may have been deleted. Choose another one in the agentflow. ${thenRerun}`,
  },
  output_invalid: {
    cause: 'An output does not have the form that the agentflow requires',
    help: 'Rerun from the agent, whose next answer can be right. If it fails again, correct its prompt or the output schema.',
  },
  plan_limit: {
    cause: 'The plan of the organization is used up',
    help: 'Ask an owner for more credits. Usage shows what was charged. Then rerun from the failed step.',
  },
  preview_expired: { cause: 'Nobody decided on a preview in time', help: 'Rerun from the agent. It then asks again.' },
  preview_rejected: {
    cause: 'A person rejected a preview',
    help: 'The reason is what they wrote. Rerun with other inputs, or change the agentflow, if the work is still needed.',
  },
  step_failed: { cause: 'A step failed', help: 'Open the failed step to see what happened. Then rerun from it.' },
  terminated: {
    cause: 'An operator ended the run in the workflow service',
    help: 'Rerun it from any agent or step that it has reached.',
  },
  timed_out: {
    cause: 'The run reached a time limit of the workflow service',
    help: 'Rerun it from any agent or step that it has reached.',
  },
  validation_failed: { cause: 'A value or an expression does not fit', help: inputOrAgentflow },
  'S5:policy': {
    cause: 'A rule forbids what a step does',
    help: 'Policies shows the rules. Change the rule or the agentflow, and rerun from the failed step.',
  },
  'S6:approval': {
    cause: 'A rule requires an approval that the step cannot wait for',
    help: 'Policies shows the rules. Change the rule or the agentflow, and rerun from the failed step.',
  },
};

/** By the code of the failure of a run. */
export const failureWords: Readonly<Record<string, FailureWords>> = { ...ofCalls, ...ofRuns };
