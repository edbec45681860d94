import { expect, test } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';

const { temporal } = useDeps();

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('a process keeps nothing of the calls to Temporal that have ended', async () => {
  const requests: WeakRef<object>[] = [];
  for (let call = 0; call < 20; call += 1) {
    await temporal.call(({ workflowService }) => {
      const request = {};
      requests.push(new WeakRef(request));
      return workflowService.getSystemInfo(request);
    });
  }
  await eventually(() => {
    collectGarbage();
    // The last call may still be on the stack.
    expect(requests.filter((request) => request.deref() !== undefined).length).toBeLessThan(5);
  });
});
