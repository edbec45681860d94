import { describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { moveExecution, prepareExecution, startExecution, untilExecution } from '../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { useRunningProduct } from '../support/running-product.js';
import { verifies } from '../support/verifies.js';
import { sizeOf } from '../requirements/full-forms.js';

/** The next process starts slowly on a busy machine. */
const patience = { timeoutMs: 120_000 };
const deps = useDeps();
const product = useRunningProduct();

async function untilCompleted(workspace: Workspace, ids: readonly string[]): Promise<void> {
  const filter = { _id: { $in: [...ids] }, projectID: workspace.projectID };
  await eventually(
    async () => {
      const found = await deps.mongo.collections.executions.find(filter, { projection: { status: 1 } }).toArray();
      const counts: Record<string, number> = {};
      for (const { status } of found) counts[status] = (counts[status] ?? 0) + 1;
      expect(counts).toEqual({ completed: ids.length });
    },
    { ...patience, everyMs: 500 },
  );
}

describe('kill -9', () => {
  test('of the worker during a step: the run ends and repeats only that step', async () => {
    verifies('durability.worker-killed', 'execution.steps.timeout');
    const workspace = product.through(await createWorkspace(deps));
    const url = (name: string) => `${product.sink.url}/${workspace.projectID}/${name}`;
    const release = product.sink.hold(`/${workspace.projectID}/two`);
    const id = await startExecution(workspace, flowThatCalls([url('one'), url('two'), url('three')]));
    await eventually(() => expect(product.requestsOf(workspace)).toHaveLength(2));
    await product.kill('worker');
    await product.start('worker');
    release();
    await untilExecution(workspace, id, 'completed');
    const names = product.requestsOf(workspace).map(({ path }) => path.split('/').at(-1));
    expect(names).toEqual(['one', 'two', 'two', 'three']);
    expect(product.sink.keys().get(`${id}/agent_1/skill_1/action_2`)).toBe(2);
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(body.steps.map((step: any) => step.attempts)).toEqual([1, 2, 1, 1]);
  });

  test('of the API during execute calls: each execution is still ready or runs to its end once', async () => {
    verifies('durability.api-killed');
    const direct = await createWorkspace(deps);
    const doomed = product.through(direct);
    const flow = flowThatCalls([`${product.sink.url}/${direct.projectID}`]);
    const prepared = await Promise.all(Array.from({ length: 30 }, () => prepareExecution(direct, flow)));
    const calls = prepared.map(({ _id }) => moveExecution(doomed, _id, 'execute'));
    await Promise.any(calls);
    const [outcomes] = await Promise.all([Promise.allSettled(calls), product.kill('api')]);
    await product.start('api');
    const again = product.through(direct);
    const second = await Promise.all(prepared.map(({ _id }) => moveExecution(again, _id, 'execute')));
    outcomes.forEach((outcome, at) => {
      const acknowledged = outcome.status === 'fulfilled' && outcome.value.status === 200;
      expect([200, 409]).toContain(second[at]?.status);
      if (acknowledged) expect(second[at]?.status).toBe(409);
    });
    await untilCompleted(
      direct,
      prepared.map(({ _id }) => _id),
    );
    expect(
      product
        .requestsOf(direct)
        .map(({ key }) => key)
        .sort(),
    ).toEqual(prepared.map(({ _id }) => `${_id}/agent_1/skill_1/action_1`).sort());
  });

  test('of both with many executions in progress loses none, and no finished step is repeated', async () => {
    verifies('durability.both-killed', 'durability.side-effects-once');
    const count = sizeOf('KILLED_RUNS');
    const direct = await createWorkspace(deps);
    const url = (name: string) => `${product.sink.url}/${direct.projectID}/${name}`;
    const agentflow = await direct.api.post(
      `/agentflow?projectID=${direct.projectID}`,
      flowThatCalls([url('one'), url('two')]),
    );
    let workspace = product.through(direct);
    const release = product.sink.hold(`/${direct.projectID}/two`);

    /** Like a careful client: repeats the request with the same key until an answer arrives. */
    const persist = (path: string, body: object, key: string): Promise<any> =>
      eventually(async () => {
        const answer = await workspace.api.post(path, body, { 'idempotency-key': key });
        expect(answer.status).toBeLessThan(300);
        return answer.body;
      }, patience);
    const ids: string[] = [];
    let next = 0;
    const caller = async () => {
      for (let at = next++; at < count; at = next++) {
        const { _id } = await persist(
          '/execute_flow',
          { agentflow_id: agentflow.body._id, goal: `run ${at}` },
          `create-${at}`,
        );
        ids.push(_id);
        await persist(`/execute_flow/${_id}/execute`, {}, `execute-${at}`);
      }
    };
    const callers = Promise.all(Array.from({ length: 20 }, caller));
    await eventually(() => expect(next).toBeGreaterThan(count * 0.8));
    await eventually(() => expect(product.requestsOf(direct).some(({ path }) => path.endsWith('/two'))).toBe(true));
    await product.kill('api', 'worker');
    const repeatable = new Set(product.requestsOf(direct).map(({ key }) => key));
    await product.start('api', 'worker');
    workspace = product.through(direct);
    await callers;
    release();
    await untilCompleted(direct, ids);

    expect(new Set(ids).size).toBe(count);
    expect(await deps.mongo.collections.executions.countDocuments({ projectID: direct.projectID })).toBe(count);
    const expected = ids.flatMap((id) => [`${id}/agent_1/skill_1/action_1`, `${id}/agent_1/skill_1/action_2`]);
    const seen = new Map([...product.sink.keys()].filter(([key]) => ids.includes(key.split('/')[0] ?? '')));
    expect([...seen.keys()].sort()).toEqual(expected.sort());
    const records = await deps.mongo.collections.executions.find({ projectID: direct.projectID }).toArray();
    const attempts = new Map(
      records.flatMap(({ _id, steps }) => steps.map((step) => [`${_id}/${step.step_id}`, step.attempts])),
    );
    const repeated = [...seen].filter(([, times]) => times > 1);
    for (const [key, times] of repeated) {
      expect(repeatable.has(key)).toBe(true);
      expect(times).toBeLessThanOrEqual(attempts.get(key) ?? 0);
    }
    for (const [key, times] of seen) if (attempts.get(key) === 1) expect(times).toBe(1);
    expect(repeated.length).toBeGreaterThan(0);
  });
});
