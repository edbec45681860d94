import { describe, expect, test } from '@jest/globals';
import { ActivityFailure, ApplicationFailure, RetryState, TimeoutFailure, type TimeoutType } from '@temporalio/common';
import { stepMessageOf, tellingMessageOf } from '../../workflows/agentflow-execution/failure.js';

/** The failure of a step as the workflow receives it. */
const failed = (cause: Error) => new ActivityFailure('', 'callAction', 'step', RetryState.TIMEOUT, 'worker', cause);
const timeout = (type: TimeoutType, before?: Error) => {
  const failure = new TimeoutFailure('activity timeout', undefined, type);
  if (before) Object.defineProperty(failure, 'cause', { value: before });
  return failure;
};

describe('the message of a failed step', () => {
  test('says in plain words which time ran out, and what failed before', () => {
    const refused = ApplicationFailure.create({ message: 'the server answered 503', type: 'unavailable' });
    expect(stepMessageOf(failed(refused))).toBe('the server answered 503');
    expect(stepMessageOf(failed(timeout('SCHEDULE_TO_CLOSE', refused)))).toBe(
      'the step did not succeed in time; before that: the server answered 503',
    );
    expect(stepMessageOf(failed(timeout('SCHEDULE_TO_CLOSE', timeout('HEARTBEAT'))))).toBe(
      'the step did not succeed in time; before that: the worker was lost during an attempt',
    );
    expect(stepMessageOf(failed(timeout('START_TO_CLOSE')))).toBe('an attempt took too long');
  });

  test('says what the last attempt failed with, if the time ran out between two attempts', () => {
    const times = { started_at: 1, ended_at: 2 };
    const attempt_details = [
      { attempt: 1, ...times, error: 'the model endpoint answered with status 500' },
      { attempt: 2, ...times, error: 'the model endpoint answered with status 429: Rate limit reached' },
      { attempt: 3, ...times, ended_at: null, error: null },
    ];
    // An attempt reports those so far in its heartbeats.
    const betweenAttempts = (details?: unknown) => failed(new TimeoutFailure('', details, 'SCHEDULE_TO_CLOSE'));
    expect(tellingMessageOf(betweenAttempts(attempt_details))).toBe(
      'the step did not succeed in time; before that: the model endpoint answered with status 429: Rate limit reached',
    );
    for (const details of [undefined, {}, []])
      expect(tellingMessageOf(betweenAttempts(details))).toBe('the step did not succeed in time');
    const refused = ApplicationFailure.create({ message: 'the server answered 503', type: 'unavailable' });
    expect(tellingMessageOf(failed(timeout('SCHEDULE_TO_CLOSE', refused)))).toBe(
      'the step did not succeed in time; before that: the server answered 503',
    );
  });
});
