import { describe, expect, test } from '@jest/globals';
import { heldExecution, moveExecution } from '../../../support/executions.js';
import { useDeps } from '../../../support/fixture.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

describe('a transition that is repeated with its Idempotency-Key', () => {
  test('gets the first answer, also from a closed run', async () => {
    verifies('execution.moves.repeated');
    const { workspace, id, release } = await heldExecution(deps, sink);
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
});
