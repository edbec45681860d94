import { Context } from '@temporalio/activity';
import type { Act } from '../src/domain/actions/act.js';
import { proposedActions } from '../src/domain/actions/proposed-actions.js';
import { continueAfterAnomaly, type ContinueDeps } from '../src/domain/executions/continue-after-anomaly.js';
import { detectAnomaly } from '../src/domain/executions/anomaly.js';
import { createProgressWriter, type ReportingStep } from '../src/domain/executions/delta-writer.js';
import { readDocuments, type DocumentStores } from '../src/domain/executions/documents.js';
import { takeModelTurn, type ModelActivityDeps } from '../src/domain/executions/model-turn.js';
import { renderGoal } from '../src/domain/executions/prompt.js';
import type { Collections } from '../src/stores/collections.js';
import type { ChatModel } from '../src/models/port.js';
import type { CallActionRequest } from '../workflows/agentflow-execution/steps/action.js';
import type { StepActivities } from '../workflows/agentflow-execution/steps/index.js';
import { runStep } from './step.js';

/** Reads the documents of an execution as text. */
export function createDocumentActivities(stores: DocumentStores): Pick<StepActivities, 'readDocuments'> {
  return { readDocuments: ({ files }) => runStep((signal) => readDocuments(stores, files, signal)) };
}

type Viewed = Pick<Collections, 'execution_deltas'>;

/** Calls one action. Viewers of the run see the progress that its server reports. */
export function createActionActivities(act: Act, collections: Viewed): Pick<StepActivities, 'callAction'> {
  return {
    async callAction(request) {
      const { value, ...step } = await runStep(async (signal) => {
        const { attempt } = Context.current().info;
        const progress = createProgressWriter(collections, reportingStep(request, attempt));
        return act(request, { signal, onProgress: progress.add, stepEndsAt: stepEndsAt() }).finally(progress.end);
      });
      if ('output' in value) return { ...step, value: value.output, ...(value.edits && { edits: value.edits }) };
      return { ...step, ...value, value: 'refused' in value ? { error: value.refused } : null };
    },
  };
}

/** When Temporal ends the attempt at the latest, in epoch seconds. */
function stepEndsAt(): number {
  const { info } = Context.current();
  const { startToCloseTimeoutMs, scheduleToCloseTimeoutMs, currentAttemptScheduledTimestampMs, scheduledTimestampMs } =
    info;
  return (
    Math.min(
      currentAttemptScheduledTimestampMs + startToCloseTimeoutMs,
      scheduledTimestampMs + scheduleToCloseTimeoutMs,
    ) / 1000
  );
}

function reportingStep({ idempotency_key, run, after_seq = 0 }: CallActionRequest, attempt: number): ReportingStep {
  const execution_id = run?.execution_id ?? '';
  const step_id = idempotency_key.slice(execution_id.length + 1);
  return { execution_id, after_seq, agent_id: run?.agent_id ?? '', step_id, attempt };
}

/** Asks the rules whether a run may continue after an anomaly was found. */
export function createContinueActivities(deps: ContinueDeps): Pick<StepActivities, 'continueAfterAnomaly'> {
  return {
    async continueAfterAnomaly(request) {
      const { value, ...step } = await runStep(() => continueAfterAnomaly(deps, request));
      return { ...step, ...value, value: 'refused' in value ? value.refused : null };
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
