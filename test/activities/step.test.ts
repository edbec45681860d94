import { describe, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { runStep } from '../../activities/step.js';
import { verifies } from '../support/verifies.js';

const lost = { error: 'the worker was lost' };

/** Runs one attempt, with the details of the heartbeats of earlier attempts. */
async function attemptOf(attempt: number, heartbeatDetails?: unknown) {
  const environment = new MockActivityEnvironment({ attempt, heartbeatDetails, scheduledTimestampMs: 1_000_000 });
  const beats: unknown[] = [];
  environment.on('heartbeat', (details) => beats.push(details));
  const result = await environment.run(() => runStep(async () => 'done'));
  return { beats, details: (result as { attempt_details: object[] }).attempt_details };
}

describe('a step', () => {
  test('that is quick sends no heartbeat', async () => {
    verifies('execution.steps.attempts');
    const { beats, details } = await attemptOf(1);
    expect(beats).toEqual([]);
    expect(details).toEqual([
      { attempt: 1, started_at: expect.any(Number), ended_at: expect.any(Number), error: null },
    ]);
  });

  test('lists attempts whose worker was lost before their first heartbeat', async () => {
    verifies('execution.steps.attempts');
    const { details } = await attemptOf(2);
    expect(details).toMatchObject([
      { attempt: 1, started_at: 1000, ...lost },
      { attempt: 2, error: null },
    ]);
    const failed = { attempt: 1, started_at: 1001, ended_at: 1002, error: 'HTTP 503' };
    expect((await attemptOf(3, [failed])).details).toMatchObject([
      failed,
      { attempt: 2, started_at: 1002, ...lost },
      { attempt: 3, error: null },
    ]);
  });

  test('lists an attempt whose worker was lost after its heartbeat, and no more than twenty', async () => {
    verifies('execution.steps.attempts');
    const { details } = await attemptOf(2, [{ attempt: 1, started_at: 1001, ended_at: null, error: null }]);
    expect(details).toMatchObject([{ attempt: 1, started_at: 1001, ...lost }, { attempt: 2 }]);
    const many = (await attemptOf(50)).details;
    expect(many).toHaveLength(20);
    expect(many.at(-1)).toMatchObject({ attempt: 50 });
  });
});
