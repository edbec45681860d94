import { Context } from '@temporalio/activity';
import type { Act } from '../src/domain/actions/act.js';
import { proposedActions } from '../src/domain/actions/proposed-actions.js';
import { detectAnomaly } from '../src/domain/executions/anomaly.js';
import { readDocuments, type DocumentStores } from '../src/domain/executions/documents.js';
import { takeModelTurn, type ModelActivityDeps } from '../src/domain/executions/model-turn.js';
import { renderGoal } from '../src/domain/executions/prompt.js';
import type { ChatModel } from '../src/models/port.js';
import type { StepActivities } from '../workflows/agentflow-execution/steps/index.js';
import { runStep } from './step.js';

/** Reads the documents of an execution as text. */
export function createDocumentActivities(stores: DocumentStores): Pick<StepActivities, 'readDocuments'> {
  return { readDocuments: ({ files }) => runStep((signal) => readDocuments(stores, files, signal)) };
}

/** Calls one action. */
export function createActionActivities(act: Act): Pick<StepActivities, 'callAction'> {
  return {
    async callAction(request) {
      const { value, ...step } = await runStep((signal) => act(request, { signal }));
      if ('output' in value) return { ...step, value: value.output };
      return { ...step, ...value, value: 'refused' in value ? { error: value.refused } : null };
    },
  };
}

/** Takes one model turn of an agent. */
export function createModelActivities(deps: ModelActivityDeps): Pick<StepActivities, 'takeModelTurn'> {
  return {
    takeModelTurn: (request) =>
      runStep((signal) => takeModelTurn(deps, request, { signal, attempt: Context.current().info.attempt })),
  };
}

/** Checks an agent's output against the agentflow's instructions. */
export function createAnomalyActivities({ models }: { models: ChatModel }): Pick<StepActivities, 'detectAnomaly'> {
  return { detectAnomaly: (request) => runStep((signal) => detectAnomaly(models, request, signal)) };
}

/** Renders previews and goals, without side effects. */
export function createPreviewActivities(): Pick<StepActivities, 'composePreview' | 'renderGoal'> {
  return {
    composePreview: (request) => runStep(async () => proposedActions(request)),
    renderGoal: (request) => runStep(async () => renderGoal(request)),
  };
}
