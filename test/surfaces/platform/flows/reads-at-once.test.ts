import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { startFakeModel, streamCalls, streamText, type FakeModel } from '../../../support/fake-model.js';
import { createWorkspace, personOf, useDeps } from '../../../support/fixture.js';
import { actionTo } from '../../../support/flows.js';
import { ownProduct } from '../../../support/own-product.js';
import type { Api } from '../../../support/processes.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const overrides: Record<string, string> = { LLM_API_KEY: 'sk-secret' };
const product = ownProduct(overrides);
let model: FakeModel;
let api: Api;

beforeAll(async () => {
  model = await startFakeModel();
  overrides.LLM_BASE_URL = model.url;
  [api] = await Promise.all([product.api(), product.worker()]);
});
afterAll(() => model.close());

/** A run whose model calls these tools in one turn. A name that begins with `w` is a POST, others are GETs. */
async function calling(names: string[], policies: object[] = []) {
  const workspace = product.through(api, await createWorkspace(deps));
  const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN', url: workspace.api.url });
  const rules = [{ policy_id: 'permit', effect: 'permit' }, ...policies];
  expect(await approver.put('/v1/policies', { policies: rules })).toMatchObject({ status: 200 });
  const prefix = `/${workspace.projectID}`;
  const actions = names.map((name) => ({
    ...actionTo(`${sink.url}${prefix}/${name}`, name),
    ...{ name, method: name.startsWith('w') ? 'POST' : 'GET' },
  }));
  const llm = { model: newId() };
  model.on(llm.model, (res, _asked, attempt) =>
    attempt === 1
      ? streamCalls(
          res,
          names.map((name) => [name, {}] as const),
        )
      : streamText(res, ['done']),
  );
  const skills = [{ _id: 'skill', name: 'Calls', initial_action_id: null, actions }];
  const flow = { name: 'Calls', agents: [{ _id: 'agent', title: 'Agent', prompt: { template: 'Go.' }, llm, skills }] };
  const seen = () => names.filter((name) => sink.seen(`${prefix}/${name}`).length > 0);
  const hold = (name: string) => sink.hold(`${prefix}/${name}`);
  const answered = () =>
    (model.asked(llm.model).at(-1)?.body.messages ?? [])
      .filter(({ role }: { role: string }) => role === 'tool')
      .map(({ tool_call_id }: { tool_call_id: string }) => tool_call_id);
  return { workspace, approver, seen, hold, answered, start: () => startExecution(workspace, flow) };
}

const askFor = (...names: string[]) => ({
  ...{ policy_id: 'ask', effect: 'require_approval', tools: ['act.http'] },
  when: names.map((name) => `context.input.path like "*/${name}"`).join(' || '),
});

test('calls that only read run at once, at most eight, and the model gets the answers in order', async () => {
  verifies('flow.reads-at-once');
  const names = Array.from({ length: 10 }, (_, at) => `r${at}`);
  const { workspace, seen, hold, answered, start } = await calling(names);
  const releases = names.map((name) => hold(name));
  const id = await start();
  await eventually(() => expect(seen()).toHaveLength(8));
  // The last one ends first.
  releases[7]?.();
  await eventually(() => expect(seen()).toHaveLength(9));
  for (const release of releases) release();
  const run = await untilExecution(workspace, id, 'completed');
  expect(answered()).toEqual(names.map((_, at) => `c${at}`));
  expect(run.agents_output[0].actions).toHaveLength(10);
  const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
  const calls = body.steps.filter(({ kind }: { kind: string }) => kind === 'action');
  expect(calls.map(({ step_id }: { step_id: string }) => step_id).sort()).toEqual(
    names.map((_, at) => `agent/turn-1/${at}`),
  );
});

test('calls of a turn with a write run in order', async () => {
  verifies('flow.reads-at-once');
  const { workspace, seen, hold, start } = await calling(['r0', 'w1', 'r2']);
  const release = hold('r0');
  const id = await start();
  await eventually(() => expect(seen()).toEqual(['r0']));
  release();
  await untilExecution(workspace, id, 'completed');
  expect(seen()).toEqual(['r0', 'w1', 'r2']);
});

test('each call waits for its own approval, which releases no other one', async () => {
  verifies('flow.reads-at-once', 'flow.approvals');
  const { workspace, approver, seen, start } = await calling(['a', 'b', 'c'], [askFor('a', 'b')]);
  const id = await start();
  const held = await eventually(async () => {
    const { data } = (await approver.get('/v1/approvals?status=pending')).body;
    expect(data).toHaveLength(2);
    expect(seen()).toEqual(['c']);
    return data;
  });
  await untilExecution(workspace, id, { status: 'running', execution_context: { waiting_for: { kind: 'approval' } } });
  const [first, second] = held;
  expect(await approver.post(`/v1/approvals/${first.approval_id}/approve`, {})).toMatchObject({ status: 200 });
  await eventually(() => expect(seen()).toHaveLength(2));
  // A pause and a resume read the other approval again.
  expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
  expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
  await untilExecution(workspace, id, { execution_context: { waiting_for: { approval_id: second.approval_id } } });
  expect(seen()).toHaveLength(2);
  expect(await approver.post(`/v1/approvals/${second.approval_id}/reject`, {})).toMatchObject({ status: 200 });
  const run = await untilExecution(workspace, id, 'completed');
  expect(seen()).toHaveLength(2);
  const outputs = run.agents_output[0].actions.map(({ output }: { output: { error?: { code: string } } }) => output);
  expect(outputs.filter(({ error }: { error?: { code: string } }) => error?.code === 'approval_rejected')).toHaveLength(
    1,
  );
});

test('a cancel withdraws the approvals of all calls', async () => {
  verifies('flow.reads-at-once', 'flow.control');
  const { workspace, approver, start } = await calling(['a', 'b'], [askFor('a', 'b')]);
  const id = await start();
  const pending = async () => (await approver.get('/v1/approvals?status=pending')).body.data;
  await eventually(async () => expect(await pending()).toHaveLength(2));
  expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({ status: 200 });
  await untilExecution(workspace, id, 'failed');
  await eventually(async () => expect(await pending()).toHaveLength(0));
});
