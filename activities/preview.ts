import type { AgentflowExecutionActivities, ComposePreviewRequest, StepContext } from '../workflows/agentflow-execution/activities.js';
import { givenInputOf } from './action-fields.js';
import { asStep } from './step.js';
import { renderText, renderUrl, variablesOf } from './template.js';

/** What is shown or rendered for a run, without an effect outside. */
export function createPreviewActivities(): Pick<AgentflowExecutionActivities, 'composePreview' | 'renderGoal'> {
  return {
    composePreview: ({ calls, context }) => asStep(async () => calls.map((call) => proposedAction(call, context))),
    renderGoal: ({ template, failure, context }) => {
      const { code, message, step_id } = failure;
      return asStep(async () => renderText('the failover goal', template, { ...variablesOf(context), failure: { code, message, step_id } }));
    },
  };
}

function proposedAction({ call_id, skill_id, action, input }: ComposePreviewRequest['calls'][number], context: StepContext) {
  const { _id: action_id, name, category, method } = action;
  const endpoint = endpointOf(action.endpoint, context);
  return { action_id, skill_id, call_id, name, category, method, endpoint, input: givenInputOf({ action, context, input }) };
}

/** What an earlier action's answer has to fill in yet stands as it was written. */
function endpointOf(template: string, context: StepContext): string {
  try {
    return renderUrl('the endpoint', template, variablesOf(context));
  } catch {
    return template;
  }
}
