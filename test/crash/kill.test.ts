import { beforeAll, describe, expect, test } from '@jest/globals';
import { setPlan } from '../../src/domain/customers/operations/account.js';
import type { Answer } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { moveExecution, prepareExecution, startExecution, untilExecution, untilListed } from '../support/executions.js';
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

type Held = Awaited<ReturnType<typeof runHeldAt>>;

/** A run whose agents call these addresses of the sink, while the call of `held` is in progress. */
async function runHeldAt(held: string, agents: string[][], plan?: Parameters<typeof setPlan>[2]) {
  const workspace = product.through(await createWorkspace(deps));
  if (plan) await setPlan(deps.mongo.collections, workspace.organizationId, plan);
  const path = `/${workspace.projectID}/${held}`;
  const release = product.sink.hold(path);
  const urls = agents.map((names) => names.map((name) => `${product.sink.url}/${workspace.projectID}/${name}`));
  const id = await startExecution(workspace, flowThatCalls(...urls));
  await eventually(() => expect(product.sink.seen(path)).toHaveLength(1));
  return { workspace, id, release };
}

describe('kill -9 of the worker', () => {
  let stepped: Held;
  let charged: Held;
  let paused: Held;
  let cancelled: Held;
  let refusals: Answer[];
  beforeAll(async () => {
    [stepped, charged, paused, cancelled] = await Promise.all([
      runHeldAt('two', [['one', 'two', 'three']]),
      runHeldAt('one', [['one'], []], {
        number_of_credits: { subscription_credits: 3, top_up_credits: 10 },
        base_credit_deduction_per_execution: 5,
      }),
      runHeldAt('one', [['one']]),
      runHeldAt('one', [['one']]),
    ]);
    await product.kill('worker');
    refusals = await Promise.all([
      moveExecution(paused.workspace, paused.id, 'pause', {}, { 'idempotency-key': 'p' }),
      moveExecution(cancelled.workspace, cancelled.id, 'cancel', {}, { 'idempotency-key': 'c' }),
    ]);
    await product.start('worker');
  });

  test('during a step: the run ends and repeats only that step', async () => {
    verifies('durability.worker-killed', 'execution.steps.timeout');
    const { workspace, id, release } = stepped;
    release();
    await untilExecution(workspace, id, 'completed');
    const names = product.requestsOf(workspace).map(({ path }) => path.split('/').at(-1));
    expect(names).toEqual(['one', 'two', 'two', 'three']);
    expect(product.sink.keys().get(`${id}/agent_1/skill_1/action_2`)).toBe(2);
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(body.steps.map((step: any) => step.attempts)).toEqual([1, 2, 1, 1]);
  });

  test('during a run: it costs its base credits once, and its turns are counted once', async () => {
    verifies('customer.credits-once', 'agent.accounting', 'platform.credits.history', 'customer.usage-exact');
    const { workspace, id, release } = charged;
    release();
    const ended = await untilListed(workspace, id, 'completed');
    const turns = ended.agents_output.map(
      ({ usage }: { usage: { input_tokens: number; output_tokens: number } }) => usage,
    );
    const sum = (field: 'input_tokens' | 'output_tokens') =>
      turns.reduce((total: number, usage: Record<string, number>) => total + (usage[field] ?? 0), 0);
    const { body: customer } = await workspace.api.get(`/customer?organization_id=${workspace.organizationId}`);
    expect(customer.quota.number_of_credits).toEqual({ subscription_credits: 0, top_up_credits: 8 });
    expect(customer.usage.number_of_agent_executions.llm_wise_usage).toEqual({
      offline: { executions: 2, input_tokens: sum('input_tokens'), output_tokens: sum('output_tokens') },
    });
    const history = await workspace.api.get(`/credit/history?organization_id=${workspace.organizationId}`);
    expect(history.body).toMatchObject({ total_count: 3, next_cursor: null });
    expect(history.body.data.filter(({ kind }: { kind: string }) => kind === 'execution')).toMatchObject([
      { credits: 5, execution_id: id, project_id: workspace.projectID },
    ]);
    const entries = history.body.data.filter(({ kind }: { kind: string }) => kind === 'model_turn');
    expect(
      entries
        .map(({ model, input_tokens, output_tokens }: Record<string, unknown>) => ({
          model,
          input_tokens,
          output_tokens,
        }))
        .reverse(),
    ).toEqual(turns.map((usage: object) => ({ model: 'offline', ...usage })));
    expect(sum('input_tokens')).toBeGreaterThan(0);
  });

  test('before a transition that is answered 503: a repeat gets the outcome when a worker is back', async () => {
    verifies('execution.moves.repeated', 'platform.errors.unavailable');
    const described = {
      error: 'unavailable',
      error_description: expect.stringMatching(/may still take effect.*Idempotency-Key/),
    };
    expect(refusals).toMatchObject([
      { status: 503, body: described },
      { status: 503, body: described },
    ]);
    for (const [{ workspace, id, release }, move, key, status] of [
      [paused, 'pause', 'p', 'paused'],
      [cancelled, 'cancel', 'c', 'failed'],
    ] as const) {
      await untilExecution(workspace, id, status);
      expect(await moveExecution(workspace, id, move, {}, { 'idempotency-key': key })).toMatchObject({
        status: 200,
        body: { status },
      });
      release();
    }
  });
});

describe('kill -9', () => {
  test('of the API during execute calls: each execution is still ready or runs to its end once', async () => {
    verifies('durability.api-killed', 'execution.execute.idempotent');
    const direct = await createWorkspace(deps);
    const doomed = product.through(direct);
    const flow = flowThatCalls([`${product.sink.url}/${direct.projectID}`]);
    const prepared = await Promise.all(Array.from({ length: 30 }, () => prepareExecution(direct, flow)));
    // Every second call has a key, so its repeat gets the first answer.
    const keyOf = (id: string, at: number) => (at % 2 === 0 ? { 'idempotency-key': id } : undefined);
    const calls = prepared.map(({ _id }, at) => moveExecution(doomed, _id, 'execute', {}, keyOf(_id, at)));
    await Promise.any(calls);
    const [outcomes] = await Promise.all([Promise.allSettled(calls), product.kill('api')]);
    await product.start('api');
    const again = product.through(direct);
    const second = await Promise.all(
      prepared.map(({ _id }, at) => moveExecution(again, _id, 'execute', {}, keyOf(_id, at))),
    );
    outcomes.forEach((outcome, at) => {
      const acknowledged = outcome.status === 'fulfilled' && outcome.value.status === 200;
      if (keyOf('', at)) expect(second[at]).toMatchObject({ status: 200, body: { status: 'ready' } });
      else expect(acknowledged ? [409] : [200, 409]).toContain(second[at]?.status);
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
