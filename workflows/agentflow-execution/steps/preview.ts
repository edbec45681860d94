import { epochSeconds } from '../../time.js';
import type { ActionPlan, AgentPlan, SkillPlan } from '../messages.js';
import type { ProposedAction } from '../preview-record.js';
import { requestPreview } from '../previews.js';
import { actionInput, type ActionInput } from './action.js';
import { contextOf, type StepContext } from './context.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

/** Composes what a person decides on before an agent's actions are called. */
interface PreviewStep {
  kind: 'preview';
  agent: AgentPlan;
  /** `preview`, or `turn-<n>/preview` for tool calls. */
  place: string;
  calls: ProposedCall[];
}

export interface ProposedCall {
  /** The model's tool call; null for an action that the skill prescribes. */
  callId: string | null;
  skill: SkillPlan;
  action: ActionPlan;
  arguments?: Record<string, unknown>;
}

export interface ComposePreviewRequest {
  idempotency_key: string;
  calls: { call_id: string | null; skill_id: string; action: ActionPlan; input: ActionInput }[];
  context: StepContext;
}

interface Activities {
  /** Shows what the actions would do, without calling them. */
  composePreview(request: ComposePreviewRequest): Promise<StepResult<ProposedAction[]>>;
}

export const preview: StepDefinition<PreviewStep, Activities> = {
  kind: 'preview',
  isAgentWork: true,
  activity: 'composePreview',
  profile: { startToCloseTimeout: '1m' },
  isLight: () => true,
  id: ({ agent, place }) => `${agent._id}/${place}`,
  name: ({ agent }) => `${agent.title}: compose preview`,
  run: ({ composePreview }, { agent, calls }, run) =>
    composePreview({
      idempotency_key: idempotencyKey(run),
      calls: calls.map((call) => ({
        call_id: call.callId,
        skill_id: call.skill._id,
        action: call.action,
        input: actionInput(run, agent, call.action, call.callId, call.arguments),
      })),
      context: contextOf(run),
    }),
  keep: (proposed, { agent }, { state, path, stepId }) =>
    requestPreview(state, path, agent, { previewId: stepId, proposed, at: epochSeconds() }),
};
