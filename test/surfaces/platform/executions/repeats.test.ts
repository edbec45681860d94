import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { useRunningProduct } from '../../../support/running-product.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const product = useRunningProduct();

async function heldRun() {
  const workspace = product.through(await createWorkspace(deps));
  const path = `/${workspace.projectID}`;
  const release = product.sink.hold(path);
  const id = await startExecution(workspace, flowThatCalls([product.sink.url + path], []));
  await eventually(() => expect(product.requestsOf(workspace)).toHaveLength(1));
  return { workspace, id, release };
}

describe('a transition that is repeated with its Idempotency-Key', () => {
  test('gets the first answer, also from a closed run', async () => {
    verifies('execution.moves.repeated');
    const { workspace, id, release } = await heldRun();
    const again = (move: string, status: string) => async () => {
      const key = { 'idempotency-key': move };
      const answers = await Promise.all([1, 2].map(() => moveExecution(workspace, id, move, {}, key)));
      const later = await moveExecution(workspace, id, move, {}, key);
      expect([...answers, later]).toMatchObject(Array(3).fill({ status: 200, body: { execution_id: id, status } }));
    };
    await again('pause', 'paused')();
    await again('resume', 'running')();
    await again('cancel', 'failed')();
    expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({ status: 409 });
    release();
  });

  test('gets the outcome of a request that was answered 503, when a worker is back', async () => {
    verifies('execution.moves.repeated', 'platform.errors.unavailable');
    const [first, second] = [await heldRun(), await heldRun()];
    await product.kill('worker');
    const answers = await Promise.all([
      moveExecution(first.workspace, first.id, 'pause', {}, { 'idempotency-key': 'p' }),
      moveExecution(second.workspace, second.id, 'cancel', {}, { 'idempotency-key': 'c' }),
    ]);
    const described = {
      error: 'unavailable',
      error_description: expect.stringMatching(/may still take effect.*Idempotency-Key/),
    };
    expect(answers).toMatchObject([
      { status: 503, body: described },
      { status: 503, body: described },
    ]);
    await product.start('worker');
    await untilExecution(first.workspace, first.id, 'paused');
    expect(await moveExecution(first.workspace, first.id, 'pause', {}, { 'idempotency-key': 'p' })).toMatchObject({
      status: 200,
      body: { status: 'paused' },
    });
    await untilExecution(second.workspace, second.id, 'failed');
    expect(await moveExecution(second.workspace, second.id, 'cancel', {}, { 'idempotency-key': 'c' })).toMatchObject({
      status: 200,
      body: { status: 'failed' },
    });
    first.release();
    second.release();
  });
});
