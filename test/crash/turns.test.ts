import { describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { moveExecution } from '../support/executions.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { useRunningProduct } from '../support/running-product.js';
import { verifies } from '../support/verifies.js';

const patience = { timeoutMs: 180_000, everyMs: 500 };
const kills = 4;
const deps = useDeps();
const product = useRunningProduct();

describe('kill -9 of both while runs take turns', () => {
  test('loses no turn and gives none twice: all runs end, never more at once than the limits allow', async () => {
    verifies('execution.turns.killed');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const flow = {
      ...flowThatCalls([`${product.sink.url}/${projectID}`]),
      concurrency: { limit: 3, key: '{{ customer_id }}', limit_per_key: 1 },
    };
    const { body: agentflow } = await api.post(`/agentflow?projectID=${projectID}`, flow);
    const ids = await Promise.all(
      Array.from({ length: 24 }, async (_, at) => {
        const request = { agentflow_id: agentflow._id, goal: 'x', input_variables: { customer_id: `c${at % 4}` } };
        const { body } = await api.post(`/execute_flow?projectID=${projectID}`, request);
        return body.execution_id as string;
      }),
    );
    const started = Promise.all(
      ids.map((id) =>
        eventually(async () => {
          const answer = await moveExecution(product.through(workspace), id, 'execute', {}, { 'idempotency-key': id });
          expect(answer.status).toBe(200);
        }, patience),
      ),
    );
    const all = { _id: { $in: ids } };
    const ended = async () => deps.mongo.collections.executions.countDocuments({ ...all, status: 'completed' });
    for (let kill = 1; kill <= kills; kill += 1) {
      await eventually(async () => expect(await ended()).toBeGreaterThanOrEqual(kill * 3), patience);
      await product.kill('api', 'worker');
      await product.start('api', 'worker');
    }
    await started;
    await eventually(async () => expect(await ended()).toBe(ids.length), patience);
    const runs = await deps.mongo.collections.executions.find(all).toArray();
    for (const run of runs) {
      const during = runs.filter(
        ({ started_at, end_time }) =>
          (started_at ?? 0) <= (run.started_at ?? 0) && (end_time ?? Infinity) > (run.started_at ?? 0),
      );
      expect(during.length).toBeLessThanOrEqual(3);
      const keys = during.map(({ flow: plan }) => plan?.turn?.key);
      expect(new Set(keys).size).toBe(keys.length);
    }
    await eventually(
      async () =>
        expect(await deps.mongo.collections.turn_queues.findOne({ _id: agentflow._id })).toMatchObject({
          running: [],
          waiting: [],
        }),
      patience,
    );
  });
});
