import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { newId } from '../../src/base/ids.js';
import { eventually } from '../support/eventually.js';
import { moveExecution, startExecution, untilExecution } from '../support/executions.js';
import { startFakeModel, type FakeModel } from '../support/fake-model.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../support/fixture.js';
import { agentThatCalls, flowThatCalls } from '../support/flows.js';
import { acceptTools, agentThatCalls as agentWithTools, connectServer } from '../support/mcp-agents.js';
import { startEverything } from '../support/mcp-server.js';
import { useRunningProduct } from '../support/running-product.js';
import { verifies } from '../support/verifies.js';

/** Two slots for each organization; 20 of its steps may be in the worker. */
const slots = 6;
const share = 2;
const deps = useDeps();
const settings: Record<string, string> = { WORKER_MAX_ACTIVITIES: String(slots) };
let model: FakeModel;
let everything: { url: string; close(): void };
beforeAll(async () => {
  [model, everything] = await Promise.all([startFakeModel(), startEverything()]);
  Object.assign(settings, { LLM_BASE_URL: model.url, LLM_MODEL: 'answers' });
  model.on('hangs', (res) => countOpen('hangs', res));
  model.on(
    'answers',
    (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
  );
});
afterAll(async () => {
  everything.close();
  await model.close();
});
const product = useRunningProduct(settings);

/** The requests that are open at once, and the most that were. A request that took too long is sent again. */
const open = new Map<string, { now: number; most: number }>();
function countOpen(name: string, res: ServerResponse): void {
  const count = open.get(name) ?? { now: 0, most: 0 };
  open.set(name, count);
  count.now += 1;
  count.most = Math.max(count.most, count.now);
  res.on('close', () => (count.now -= 1));
}

const workspaceHere = async (): Promise<Workspace> => product.through(await createWorkspace(deps));

const flowTo = (path: string) => flowThatCalls([product.sink.url + path]);

/**
 * Every run still hangs: none has ended, and each has a step that runs or waits for its turn. A record shows this a second after
 * the run began, or later if its worker was lost meanwhile.
 */
async function expectAllToHang(workspace: Workspace, ids: readonly string[]): Promise<void> {
  await eventually(async () => {
    const runs = await Promise.all(ids.map((id) => workspace.api.get(`/execute_flow/${id}`)));
    expect(runs.map(({ body }) => body.status)).toEqual(ids.map(() => 'running'));
  });
}

const thinking = { name: 'Thinker', agents: [{ ...agentThatCalls([]), llm: { model: 'hangs' } }] };

async function endAll(workspace: Workspace, ids: readonly string[]): Promise<void> {
  for (const id of ids) await moveExecution(workspace, id, 'cancel');
}

describe('while the runs of other organizations hang', () => {
  test.each([
    ['calls of a server that never answers', ['/one', '/two'], (name: string) => flowTo(name)],
    ['model requests', ['hangs', 'hangs'], () => thinking],
  ])('in %s, those of another complete, also after kill -9', async (_name, names, hanging) => {
    verifies('shares.steps');
    const runs: [Workspace, string[]][] = [];
    for (const name of names) {
      product.sink.answer(name, (_request, res) => countOpen(name, res));
      const attacker = await workspaceHere();
      const ids = [];
      for (let n = 0; n < 15; n += 1) ids.push(await startExecution(attacker, hanging(name)));
      runs.push([attacker, ids]);
    }
    const ofAll = (kind: 'now' | 'most') =>
      [...new Set(names)].reduce((sum, name) => sum + (open.get(name)?.[kind] ?? 0), 0);
    const other = await workspaceHere();
    for (const restart of [true, false]) {
      await eventually(() => expect(ofAll('now')).toBe(names.length * share));
      await untilExecution(other, await startExecution(other, flowTo(`/${other.projectID}`)), 'completed');
      for (const [attacker, ids] of runs) await expectAllToHang(attacker, ids);
      expect(ofAll('most')).toBe(names.length * share);
      if (!restart) continue;
      await product.kill('worker');
      await eventually(() => expect(ofAll('now')).toBe(0));
      await product.start('worker');
    }
    for (const [attacker, ids] of runs) await endAll(attacker, ids);
    await eventually(() => expect(ofAll('now')).toBe(0));
  });
});

test('runs of one organization beyond its share wait and then complete', async () => {
  verifies('shares.steps');
  const workspace = await workspaceHere();
  const release = product.sink.hold(`/${workspace.projectID}`);
  const ids: string[] = [];
  for (let n = 0; n < 12; n += 1) ids.push(await startExecution(workspace, flowTo(`/${workspace.projectID}`)));
  await eventually(() => expect(product.requestsOf(workspace)).toHaveLength(share));
  release();
  for (const id of ids) {
    await untilExecution(workspace, id, 'completed');
    const { steps } = (await workspace.api.get(`/execute_flow/${id}/monitoring`)).body;
    expect(steps.map(({ attempts }: any) => attempts)).toEqual(steps.map(() => 1));
  }
});

test('a question of an MCP server to a person holds no slot', async () => {
  verifies('shares.questions');
  const tool = 'trigger-elicitation-request';
  const asking = await workspaceHere();
  const person = await personOf(deps, asking, { userId: newId(), url: asking.api.url });
  const server = await connectServer(asking, { url: everything.url });
  await acceptTools(asking, server, [tool]);
  const flow = agentWithTools(model, 'asks', server, [tool], [[tool, {}]]);
  const ids: string[] = [];
  for (let n = 0; n < slots + 1; n += 1) ids.push(await startExecution(asking, flow));
  const questions = async () => {
    const { data } = (await person.get('/inbox?limit=100')).body as { data: { _id: string; kind: string }[] };
    return data.filter(({ kind }) => kind === 'elicitation');
  };
  await eventually(async () => expect(await questions()).toHaveLength(ids.length));
  for (const workspace of [asking, await workspaceHere()])
    await untilExecution(workspace, await startExecution(workspace, flowTo(`/${workspace.projectID}`)), 'completed');
  await expectAllToHang(asking, ids);
  for (const { _id } of await questions())
    expect(await person.post(`/inbox/${_id}/reply`, { decision: 'reject' })).toMatchObject({ status: 200 });
  for (const id of ids) await untilExecution(asking, id, 'completed');
});

const answer = {
  id: 'c',
  object: 'chat.completion',
  model: 'served',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'A draft.' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
};
