import type { ProposedAction } from '../../../workflows/agentflow-execution/preview-record.js';
import type { StepContext } from '../../../workflows/agentflow-execution/steps/context.js';
import type { ComposePreviewRequest } from '../../../workflows/agentflow-execution/steps/preview.js';
import { renderUrl } from '../../prompts/template.js';
import { givenInputOf, templateVariables } from './action-fields.js';

/** Shows what a person decides on before the actions of an agent are called. Has no side effects. */
export function proposedActions({ calls, context }: ComposePreviewRequest): ProposedAction[] {
  return calls.map((call) => proposedAction(call, context));
}

function proposedAction(
  { call_id, skill_id, action, input }: ComposePreviewRequest['calls'][number],
  context: StepContext,
): ProposedAction {
  const { _id: action_id, name, category, method } = action;
  const filled = givenInputOf({ action, context, input });
  const endpoint = endpointOf(action.endpoint, templateVariables({ action, context, input }, filled));
  return { action_id, skill_id, call_id, name, category, method, endpoint, input: filled };
}

/** The template itself if it needs an earlier action's answer, which does not exist yet. */
function endpointOf(template: string, variables: Record<string, unknown>): string {
  try {
    return renderUrl('the endpoint', template, variables);
  } catch {
    return template;
  }
}
