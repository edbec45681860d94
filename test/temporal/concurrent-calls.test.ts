import { expect, test } from '@jest/globals';
import { useDeps } from '../support/fixture.js';
import { eventually } from '../support/eventually.js';

const { temporal } = useDeps();
const maxRunning = 100;
const maxWaiting = 2000;

/** Calls that end when they are released. */
function heldCalls(count: number) {
  const releases: (() => void)[] = [];
  const most = { running: 0, ever: 0 };
  const work = async () => {
    most.ever = Math.max(most.ever, (most.running += 1));
    await new Promise<void>((resolve) => releases.push(resolve));
    most.running -= 1;
    return 'answered';
  };
  const answers = Array.from({ length: count }, () => temporal.call(work));
  return { answers, most, releases };
}

test('calls beyond 100 wait for their turn, and each is made', async () => {
  const { answers, most, releases } = heldCalls(3 * maxRunning);
  await eventually(() => expect(most.running).toBe(maxRunning));
  expect(await temporal.wait(async () => 'needs no turn', 1000)).toBe('needs no turn');
  for (let released = 0; released < answers.length; released += 1) {
    await eventually(() => expect(releases.length).toBeGreaterThan(released), { everyMs: 1 });
    releases[released]?.();
  }
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['answered']));
  expect(most.ever).toBe(maxRunning);
});

test('the time limit of a call includes the time that it waits for its turn', async () => {
  const { answers, most, releases } = heldCalls(maxRunning);
  await eventually(() => expect(most.running).toBe(maxRunning));
  await expect(temporal.call(async () => 'made', 300)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the workflow service does not answer',
  });
  for (const release of releases) release();
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['answered']));
});

test('when too many calls wait, the next one is refused at once', async () => {
  const { answers, releases } = heldCalls(maxRunning + maxWaiting);
  await expect(temporal.call(async () => 'made')).rejects.toMatchObject({
    code: 'unavailable',
    facts: { retryAfterSeconds: 1 },
  });
  const all = Promise.all(answers);
  for (let released = 0; released < answers.length; released += 1) {
    await eventually(() => expect(releases.length).toBeGreaterThan(released), { everyMs: 1 });
    releases[released]?.();
  }
  await all;
});
