import { Context } from '@temporalio/activity';
import { epochSeconds } from '../src/base/time.js';
import type { StepAttempt } from '../workflows/agentflow-execution/step-record.js';
import type { StepResult } from '../workflows/agentflow-execution/steps/definition.js';
import { failureOf } from './failure.js';
import { inShare } from './shares.js';
import { withHeartbeatOnly } from './with-heartbeat.js';

const maxAttemptsKept = 20;
const maxErrorLength = 300;

/**
 * Runs the work of one step of an execution. Heartbeats carry the list of attempts from one attempt to the next, so that the
 * result, the failure and monitoring show when each attempt began and how it ended. A failure after `maxAttempts` is final.
 */
export async function runStep<T>(
  work: (signal: AbortSignal) => Promise<T>,
  maxAttempts = Infinity,
): Promise<StepResult<T>> {
  const context = Context.current();
  const { attempt, scheduledTimestampMs } = context.info;
  return withHeartbeatOnly<StepAttempt[] | null, StepResult<T>>(null, async ({ cursor, note, reached, signal }) => {
    const started_at = epochSeconds();
    const before = (cursor ?? []).map((each) => (each.ended_at === null ? lost(each, started_at) : each));
    // A worker that is lost within a second has not sent a heartbeat yet.
    for (let missing = before.at(-1)?.attempt ?? 0; (missing += 1) < attempt;)
      before.push(
        lost({ attempt: missing, started_at: before.at(-1)?.ended_at ?? scheduledTimestampMs / 1000 }, started_at),
      );
    const upTo = (ended_at: number | null, error: string | null) =>
      [...before, { attempt, started_at, ended_at, error }].slice(-maxAttemptsKept);
    note(upTo(null, null));
    signal.throwIfAborted();
    let hasBegun = false;
    try {
      const value = await inShare(() => {
        hasBegun = true;
        return work(signal);
      });
      return { value, attempts: attempt, attempt_details: upTo(epochSeconds(), null) };
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error, context, {
        more: (message) => {
          context.log.warn('an attempt of a step failed', { message });
          const attempt_details = upTo(epochSeconds(), message.slice(0, maxErrorLength));
          reached(attempt_details);
          return { attempt_details, ...(!hasBegun && { waited: true }) };
        },
        attemptsLike: (message) =>
          attempt >= maxAttempts ? Infinity : 1 + before.filter((each) => isAlike(each.error, message)).length,
      });
    }
  });
}

/** Whether two attempts failed alike. Only the words before the first colon are compared: the rest quotes the answer. */
function isAlike(error: string | null, message: string): boolean {
  return error?.split(':', 1)[0] === message.split(':', 1)[0];
}

function lost(attempt: Pick<StepAttempt, 'attempt' | 'started_at'>, ended_at: number): StepAttempt {
  return { ...attempt, ended_at, error: 'the worker was lost' };
}
