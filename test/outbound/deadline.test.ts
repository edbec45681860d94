import { expect, test } from '@jest/globals';
import { withDeadline } from '../../src/outbound/deadline.js';
import { verifies } from '../support/verifies.js';

const { signal } = new AbortController();

test('the time of concurrent questions does not count', async () => {
  verifies('mcp-client.elicitation');
  const limits = { timeoutMs: 50, signal };
  const timeout = { code: 'timeout' };
  let isEnded: boolean | undefined;
  const calling = withDeadline(limits, async (ended, clock) => {
    clock.stop();
    clock.stop();
    // One of them is answered, the other is not.
    clock.start();
    await expect(withDeadline({ ...limits, timeoutMs: 200 }, () => new Promise(() => undefined))).rejects.toMatchObject(
      timeout,
    );
    isEnded = ended.aborted;
    clock.start();
    return new Promise(() => undefined);
  });
  await expect(calling).rejects.toMatchObject(timeout);
  expect(isEnded).toBe(false);
});
