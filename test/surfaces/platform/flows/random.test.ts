import { expect, test } from '@jest/globals';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import { sizeOf } from '../../../requirements/full-forms.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, prepareExecution, startAsPlanned } from '../../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { randomFlow } from '../../../support/random-flows.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const concurrency = 6;

/** Errors are compared by their place alone, because the interpreter has no messages. */
function withoutReasons(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, each) => (key === 'error' && typeof each === 'object' ? true : each)) ?? 'null',
  );
}

/** Starts a run whose history limit a few steps reach. */
async function start(workspace: Workspace, flow: object, max_history_events: number): Promise<string> {
  const { _id } = await prepareExecution(workspace, { name: 'Random', ...flow });
  await startAsPlanned(deps, _id, { max_history_events });
  return _id as string;
}

test('random flows return what a simple interpreter returns, also when they are paused and continue as new', async () => {
  verifies('flow.random', 'flow.continue-as-new', 'flow.control');
  const workspace = await createWorkspace(deps);
  const first = Number(process.env.RANDOM_FLOW_SEED ?? 1);
  const seeds = Array.from({ length: sizeOf('RANDOM_FLOWS') }, (_one, at) => first + at);
  const runs = new Set<string>();

  const check = async (seed: number): Promise<void> => {
    const { interpret, ...flow } = randomFlow(seed);
    const id = await start(workspace, flow, seed % 2 === 0 ? 5000 : 20);
    if (seed % 3 === 0) {
      const paused = await moveExecution(workspace, id, 'pause');
      if (paused.status === 200)
        await eventually(async () => expect((await moveExecution(workspace, id, 'resume')).status).toBe(200));
    }
    let expected: { status: string; output?: unknown };
    try {
      expected = { status: 'completed', output: withoutReasons(interpret()) };
    } catch {
      expected = { status: 'failed' };
    }
    const { status, conclusion } = await eventually(async () => {
      const { body } = await workspace.api.get(`/execute_flow/${id}`);
      expect(['completed', 'failed']).toContain(body.status);
      return body;
    });
    const output = conclusion === null ? undefined : withoutReasons(conclusion.output ?? null);
    expect({ seed, status, output }).toEqual({ seed, output: undefined, ...expected });
    // Steps on different paths end in any order, and the record has the end of each.
    await eventually(async () => {
      const record = await deps.mongo.collections.executions.findOne({ _id: id });
      const open = record?.steps.filter(({ ended_at }) => ended_at === null);
      expect({ seed, status: record?.status, open }).toEqual({ seed, status: expected.status, open: [] });
    });
    const description = await deps.temporal.client.workflow.getHandle(executionWorkflowId(id)).describe();
    runs.add(description.runId);
  };

  const waiting = [...seeds];
  const next = async (): Promise<void> => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) await check(seed);
  };
  await Promise.all(Array.from({ length: concurrency }, next));
  expect(runs.size).toBe(seeds.length);
});
