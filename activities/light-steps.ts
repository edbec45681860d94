import { ApplicationFailure, Context } from '@temporalio/activity';
import { abortWith } from '../src/base/async.js';
import type { Tracing } from '../src/observability/tracing.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';
import {
  batchMs,
  beginMs,
  maxBatchCharacters,
  type LightAnswer,
} from '../workflows/agentflow-execution/light-messages.js';
import type { StepResult } from '../workflows/agentflow-execution/steps/definition.js';
import { lightActivities, type StepActivities } from '../workflows/agentflow-execution/steps/index.js';
import { failureOf } from './failure.js';
import { withSignal } from './with-heartbeat.js';

type Run = (request: unknown) => Promise<StepResult<unknown>>;

/**
 * Runs the light steps of a batch one after the other, so that the time of each is its own. The first step begins in any case;
 * others begin while there is time and room for their results.
 */
export function createLightStepActivities(
  steps: Partial<StepActivities>,
  { span }: Pick<Tracing, 'span'>,
): Pick<AgentflowExecutionActivities, 'runLightSteps'> {
  const runs = new Map(Object.entries(steps).filter(([name]) => lightActivities.includes(name))) as Map<string, Run>;
  return {
    async runLightSteps(requests) {
      const { cancellationSignal } = Context.current();
      const startedAt = performance.now();
      const answers: LightAnswer[] = [];
      let characters = 0;
      for (const { activity, request } of requests) {
        cancellationSignal.throwIfAborted();
        const spentMs = performance.now() - startedAt;
        if (answers.length > 0 && (spentMs > beginMs || characters > maxBatchCharacters)) {
          answers.push({ ms: 0, characters: 0, is_left: true });
          continue;
        }
        const run = runs.get(activity);
        if (!run)
          throw ApplicationFailure.nonRetryable(`${activity} is not the activity of a light step`, 'internal_error');
        const work = () => span(`RunActivity:${activity}`, {}, () => run(request));
        const answer = await answerOf(work, batchMs - spentMs);
        characters += answer.characters;
        answers.push(answer);
      }
      return answers;
    },
  };
}

/** @param limitMs the work is aborted after this time */
async function answerOf(work: () => Promise<StepResult<unknown>>, limitMs: number): Promise<LightAnswer> {
  const context = Context.current();
  const startedAt = performance.now();
  const msSoFar = () => Math.round(performance.now() - startedAt);
  const ends = abortWith(context.cancellationSignal);
  const ended = new Promise<'ended'>((resolve) => ends.signal.addEventListener('abort', () => resolve('ended')));
  const timer = setTimeout(() => ends.abort(), limitMs);
  try {
    const result = await Promise.race([ended, withSignal(ends.signal, work)]);
    context.cancellationSignal.throwIfAborted();
    if (result === 'ended') return { ms: msSoFar(), characters: 0, is_late: true };
    return { ms: msSoFar(), characters: JSON.stringify(result).length, result };
  } catch (error) {
    context.cancellationSignal.throwIfAborted();
    const { type, message, nonRetryable, details } = failureOf(error, context);
    const failure = { type: type ?? '', message, nonRetryable: nonRetryable === true, details: details ?? [] };
    return { ms: msSoFar(), characters: JSON.stringify(failure).length, failure };
  } finally {
    clearTimeout(timer);
    ends.abort();
  }
}
