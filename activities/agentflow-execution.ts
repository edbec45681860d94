import { Context } from '@temporalio/activity';
import type { Act } from '../src/domain/actions/act.js';
import { withInputsOfCall } from '../src/domain/actions/agentflow-input.js';
import type { RunCallDeps } from '../src/domain/actions/operations/calls-of-runs.js';
import { proposedActions } from '../src/domain/actions/proposed-actions.js';
import { askPerson } from '../src/domain/executions/ask-person.js';
import { continueAfterAnomaly } from '../src/domain/executions/continue-after-anomaly.js';
import { detectAnomaly } from '../src/domain/executions/anomaly.js';
import type { ExchangePart, Exchanges } from '../src/domain/executions/exchanges.js';
import { createProgressWriter, type ReportingStep } from '../src/domain/executions/delta-writer.js';
import { readDocuments, type DocumentStores } from '../src/domain/executions/documents.js';
import { takeModelTurn, type ModelActivityDeps } from '../src/domain/executions/model-turn.js';
import { divideItems } from '../src/domain/executions/divide-items.js';
import { readSlice, startSlice } from '../src/domain/executions/start-slice.js';
import { readFlow, startFlow } from '../src/domain/executions/start-flow.js';
import type { Deps } from '../src/domain/deps.js';
import { renderGoal } from '../src/domain/executions/prompt.js';
import { AppError, isAppError } from '../src/base/errors.js';
import { pick } from '../src/base/pick.js';
import type { CodeResult } from '../src/domain/executions/run-code.js';
import type { SchemaChecks } from '../src/threads/schema-checks.js';
import type { Threads } from '../src/threads/threads.js';
import type { Collections } from '../src/stores/collections.js';
import type { ChatModel } from '../src/models/port.js';
import type { CallActionRequest } from '../workflows/agentflow-execution/steps/action.js';
import type { StepResult } from '../workflows/agentflow-execution/steps/definition.js';
import { maxAnomalyAttempts } from '../workflows/agentflow-execution/steps/anomaly.js';
import type { StepActivities } from '../workflows/agentflow-execution/steps/index.js';
import { organizationOfActivity } from './shares.js';
import { runStep } from './step.js';

/** Runs a step, and keeps the parts of its exchange that `work` reports. */
function runKept<T>(
  exchanges: Exchanges,
  key: string,
  work: (signal: AbortSignal, note: (part: ExchangePart) => void) => Promise<T>,
  maxAttempts?: number,
): Promise<StepResult<T>> {
  return runStep(async (signal) => {
    const { note, end } = exchanges.begin(key, Context.current().info.attempt);
    return work(signal, note).finally(end);
  }, maxAttempts);
}

export function createDocumentActivities(
  stores: DocumentStores,
  exchanges: Exchanges,
): Pick<StepActivities, 'readDocuments'> {
  return {
    readDocuments: ({ files, idempotency_key }) =>
      runKept(exchanges, idempotency_key, async (signal, note) => {
        note({ input: files.map(({ name, mime_type }) => ({ name, mime_type })) });
        const documents = await readDocuments(stores, files, { owner: organizationOfActivity(), signal });
        note({ output: documents });
        return documents;
      }),
  };
}

/** Calls one action. Viewers of the run see the progress that the server of the action reports. */
export function createActionActivities(
  act: Act,
  collections: Pick<Collections, 'execution_deltas'>,
  exchanges: Exchanges,
): Pick<StepActivities, 'callAction'> {
  return {
    async callAction(request) {
      const { value, ...step } = await runKept(exchanges, request.idempotency_key, async (signal, note) => {
        const { attempt } = Context.current().info;
        const progress = createProgressWriter(collections, reportingStep(request, attempt));
        const options = { signal, note, onProgress: progress.add, stepEndsAt: stepEndsAt() };
        return act(request, options).finally(progress.end);
      });
      if ('output' in value) return { ...step, value: value.output, ...(value.edits && { edits: value.edits }) };
      return { ...step, ...value, value: 'refused' in value ? { error: value.refused } : null };
    },
  };
}

/** The time at which Temporal ends the attempt, in epoch seconds. */
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

export function createContinueActivities(
  deps: RunCallDeps,
  exchanges: Exchanges,
): Pick<StepActivities, 'continueAfterAnomaly'> {
  return {
    async continueAfterAnomaly(request) {
      const { value, ...step } = await runKept(exchanges, request.idempotency_key, (_signal, note) =>
        continueAfterAnomaly(deps, request, note),
      );
      return { ...step, ...value, value: 'refused' in value ? value.refused : null };
    },
  };
}

export function createModelActivities(
  deps: ModelActivityDeps & LightModels,
  exchanges: Exchanges,
): Pick<StepActivities, 'takeModelTurn'> {
  return {
    takeModelTurn: (request) =>
      runKept(exchanges, request.idempotency_key, async (signal, note) => {
        requireLightModel(deps, request);
        return takeModelTurn(deps, request, {
          signal,
          note,
          attempt: Context.current().info.attempt,
          owner: organizationOfActivity(),
        });
      }),
  };
}

export function createAnomalyActivities(
  deps: { models: ChatModel } & LightModels,
  exchanges: Exchanges,
): Pick<StepActivities, 'detectAnomaly'> {
  return {
    detectAnomaly: (request) =>
      runKept(
        exchanges,
        request.idempotency_key,
        async (signal, note) => {
          requireLightModel(deps, request);
          return detectAnomaly(deps.models, request, { signal, note });
        },
        maxAnomalyAttempts,
      ),
  };
}

interface LightModels {
  isLightModel: (name: string) => boolean;
}

/** A local activity never waits for an endpoint, even if the API that started the run knows none. The step then runs as a regular one. */
function requireLightModel({ isLightModel }: LightModels, { agent }: { agent: { llm: { model: string } } }): void {
  if (Context.current().info.isLocal && !isLightModel(agent.llm.model))
    throw new AppError('unavailable', 'the endpoint of a model is not called within a workflow task');
}

/** Asks the people to whom `ask` steps address their questions. */
export function createQuestionActivities(
  collections: Pick<Collections, 'questions'>,
  exchanges: Exchanges,
): Pick<StepActivities, 'askPerson'> {
  return {
    async askPerson(request) {
      const { value, ...step } = await runKept(exchanges, request.idempotency_key, (_signal, note) =>
        askPerson(collections, request, note),
      );
      return { ...step, ...value, value: 'answer' in value ? value.answer : null };
    },
  };
}

/** Checks what flows return. */
export function createOutputActivities(
  schemas: SchemaChecks,
  exchanges: Exchanges,
): Pick<StepActivities, 'checkOutput'> {
  return {
    checkOutput: ({ idempotency_key, schema, output }) =>
      runKept(exchanges, idempotency_key, async (_signal, note) => {
        note({ input: output });
        const checked = { name: 'output', owner: organizationOfActivity(), code: 'output_invalid' } as const;
        await schemas.requireMatch(schema, output, checked);
        return null;
      }),
  };
}

/** Starts and reads the runs of `flow` steps. */
export function createFlowActivities(deps: Deps, exchanges: Exchanges): Pick<StepActivities, 'startFlow' | 'readFlow'> {
  return {
    async startFlow(request) {
      const { value, ...step } = await runKept(exchanges, request.idempotency_key, (_signal, note) =>
        startFlow(deps, withInputsOfCall(request), note),
      );
      return { ...step, ...value, value: 'child' in value ? value.child : null };
    },
    readFlow: ({ idempotency_key, execution_id }) =>
      runKept(exchanges, idempotency_key, async (_signal, note) => {
        const end = await readFlow(deps, execution_id);
        note({ input: { execution_id }, output: end });
        return end;
      }),
  };
}

/** Divides the items of a `map`, and starts and reads the runs that work on them. */
export function createSliceActivities(
  deps: Deps,
  exchanges: Exchanges,
): Pick<StepActivities, 'divideItems' | 'startSlice' | 'readSlice'> {
  return {
    divideItems: (request) =>
      runKept(exchanges, request.idempotency_key, async (_signal, note) => {
        if ('query' in request.source) note({ input: request.source.query });
        return divideItems(deps, request);
      }),
    startSlice: (request) =>
      runKept(exchanges, request.idempotency_key, async (_signal, note) => {
        const prepared = await startSlice(deps, request);
        note({ output: pick(prepared, 'execution_id') });
        return prepared;
      }),
    readSlice: ({ idempotency_key, execution_id }) =>
      runKept(exchanges, idempotency_key, () => readSlice(deps, execution_id)),
  };
}

/** Runs the code of flows in threads. Its clock stands still at the time when the step was scheduled first. */
export function createCodeActivities(threads: Threads, exchanges: Exchanges): Pick<StepActivities, 'runCode'> {
  return {
    runCode: ({ idempotency_key, source, inputs, timeout_seconds }) =>
      runKept(exchanges, idempotency_key, async (signal, note) => {
        note({ input: inputs });
        const now = Context.current().info.scheduledTimestampMs / 1000;
        const request = { source, inputs, now, timeout_seconds };
        const options = { owner: organizationOfActivity(), timeoutMs: (timeout_seconds + 5) * 1000, signal };
        const ended = (error: unknown): CodeResult => {
          // The thread was ended with the code. It would end in the same way again.
          if (!isAppError(error) || error.code !== 'internal_error') throw error;
          return { failure: 'it did not end within its limits of time and memory', log: [] };
        };
        const { output, failure, log } = await threads.run('runCode', request, options).catch(ended);
        if (log.length > 0) note({ log });
        if (failure !== undefined) throw new AppError('validation_failed', `the code failed: ${failure}`);
        note({ output });
        return output;
      }),
  };
}

/** Renders previews and goals, without side effects. */
export function createPreviewActivities(exchanges: Exchanges): Pick<StepActivities, 'composePreview' | 'renderGoal'> {
  const render = <T>(key: string, work: () => T, input?: unknown) =>
    runKept(exchanges, key, async (_signal, note) => {
      if (input !== undefined) note({ input });
      const output = work();
      note({ output });
      return output;
    });
  return {
    composePreview: (request) => render(request.idempotency_key, () => proposedActions(request)),
    renderGoal: (request) =>
      render(request.idempotency_key, () => renderGoal(request), pick(request, 'template', 'failure')),
  };
}
