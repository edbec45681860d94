import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { epochSeconds } from '../../../../src/base/time.js';
import { openEventStream } from '../../../support/event-stream.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { startFakeModel, type FakeModel } from '../../../support/fake-model.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { acceptTools, agentThatCalls, answersTo, connectServer } from '../../../support/mcp-agents.js';
import { startEverything, startMcpServer, toolNamed, type McpServer } from '../../../support/mcp-server.js';
import { ownProduct } from '../../../support/own-product.js';
import type { ProductProcess } from '../../../support/processes.js';
import { verifies } from '../../../support/verifies.js';

/** What an MCP server sends while it works on a call: progress, and questions to a person. */
const deps = useDeps();
const overrides: Record<string, string> = {};
const product = ownProduct(overrides);
let model: FakeModel;
let everything: { url: string; close(): void };
let changing: McpServer;
let workspace: () => Promise<Workspace>;
let worker: ProductProcess;

beforeAll(async () => {
  [model, everything, changing] = await Promise.all([startFakeModel(), startEverything(), startMcpServer()]);
  overrides.LLM_BASE_URL = model.url;
  const [api, running] = await Promise.all([product.api(), product.worker()]);
  worker = running;
  workspace = async () => product.through(api, await createWorkspace(deps));
});
afterAll(async () => {
  everything.close();
  await Promise.all([model.close(), changing.close()]);
});

test('what a tool reports while it works is an event of its run, bounded in number and size', async () => {
  verifies('mcp-client.progress');
  const member = await workspace();
  const id = await connectServer(member, { url: changing.url });
  changing.tools = [toolNamed('slow')];
  await acceptTools(member, id);
  let finish = () => undefined as void;
  changing.result = async (_name, _signal, report) => {
    for (let progress = 1; progress <= 300; progress += 1)
      await report({ progress, total: 300, message: 'x'.repeat(1000) });
    await new Promise<void>((resolve) => (finish = resolve));
    await report({ progress: 300, total: 300 });
    return { content: [{ type: 'text', text: 'done' }] };
  };
  const execution = await startExecution(member, agentThatCalls(model, 'slow', id, ['slow'], [['slow', {}]]));
  const viewer = await openEventStream(`${member.api.url}/execute_flow/${execution}/events`, {
    'x-api-key': member.apiKey,
  });
  const reports = () => viewer.events.filter(({ event }) => event === 'step_progress').map(({ data }) => data.data);
  await eventually(() =>
    expect(reports().at(-1)).toMatchObject({ progress: 300, total: 300, message: 'x'.repeat(500) }),
  );
  finish();
  await viewer.ended;
  expect(reports().length).toBeLessThan(50);
  expect(reports().at(-1)).toMatchObject({ progress: 300, message: null, agent_id: 'agent', attempt: 1 });
  const types = viewer.events.map(({ event }) => event);
  expect(types.lastIndexOf('step_progress')).toBeLessThan(types.lastIndexOf('step_completed'));
});

describe('a server that asks a person during a call', () => {
  const ask = 'trigger-elicitation-request';

  /** A run whose agent calls the tool that asks a question, and a person who sees the question. */
  async function asking(name: string, tool = ask, input: object = {}, change = (flow: object) => flow) {
    const member = await workspace();
    const person = await personOf(deps, member, { userId: newId(), url: member.api.url });
    const id = await connectServer(member, { url: everything.url });
    await acceptTools(member, id, [tool]);
    const flow = change(agentThatCalls(model, name, id, [tool], [[tool, input]]));
    const execution = await startExecution(member, flow);
    const item = async () => {
      const { data } = (await person.get('/inbox')).body;
      return data.find(({ execution_id }: any) => execution_id === execution);
    };
    const asked = await eventually(async () => {
      const found = await item();
      expect(found).toBeDefined();
      return found;
    });
    const reply = (body: object, by = person) => by.post(`/inbox/${asked._id}/reply`, body);
    return { member, person, execution, asked, item, reply };
  }

  test('leaves the inbox when another branch of the flow makes the call needless', async () => {
    verifies('mcp-client.elicitation', 'flow.control.nothing-open');
    const branches = [
      { name: 'asks', first: 'agent' },
      { name: 'go', first: 'go' },
    ];
    const wait = (_id: string) => ({ _id, type: 'wait', event: { name: _id } });
    const racing = (flow: object) => ({
      ...{ ...flow, initialAgent: 'race' },
      steps: [{ _id: 'race', type: 'parallel', join: 'any', branches, next: 'end' }, wait('go'), wait('end')],
    });
    const { member, execution, item, reply } = await asking('raced', ask, {}, racing);
    expect(await member.api.post(`/execute_flow/${execution}/events`, { name: 'go' })).toMatchObject({ status: 200 });
    await untilExecution(member, execution, { execution_context: { waiting_for: { kind: 'event', name: 'end' } } });
    expect(await item()).toBeUndefined();
    expect(await reply({ decision: 'accept', values: { name: 'Ada' } })).toMatchObject({ status: 409 });
    expect(await moveExecution(member, execution, 'cancel')).toMatchObject({ status: 200 });
  });

  test('waits in the inbox, also after its worker was killed, until a person gives values that fit', async () => {
    verifies('mcp-client.elicitation', 'mcp-client.elicitation-killed');
    const { member, execution, asked, item, reply } = await asking('asks');
    expect(asked).toMatchObject({
      ...{ kind: 'elicitation', status: 'waiting', may_decide: true, execution_id: execution },
      body: {
        ...{ server: everything.url, tool: ask, message: expect.stringContaining('Please provide') },
        schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      },
    });
    const shown = await untilExecution(member, execution, {
      execution_context: { waiting_for: { kind: 'elicitation' } },
    });
    expect(shown.status).toBe('running');
    // The list shows the stored record, which follows the live state.
    await eventually(async () => {
      const list = await member.api.get(`/${member.projectID}/execution_flows?state=waiting`);
      expect(list.body.data.map(({ execution_id }: any) => execution_id)).toEqual([execution]);
    });
    // A key cannot answer as a person, and another project does not see the question.
    expect(await reply({ decision: 'accept', values: { name: 'Ada' } }, member.api)).toMatchObject({ status: 403 });
    const elsewhere = await workspace();
    expect(await reply({ decision: 'reject' }, elsewhere.api)).toMatchObject({ status: 404 });
    for (const [values, problem] of [
      [{}, 'values.name: is required'],
      [{ name: 'Ada', email: 'nobody' }, 'values.email: must be an email address'],
      [{ name: 'Ada', integer: 101 }, 'values.integer: must be an integer from 1 to 100'],
      [{ name: 'Ada', untitledSingleSelectEnum: 'Gunther' }, 'values.untitledSingleSelectEnum: must be one of "'],
      [{ name: 'Ada', shoe: 1 }, 'no field "shoe"'],
    ] as const)
      expect(await reply({ decision: 'accept', values })).toMatchObject({
        status: 422,
        body: { error: 'validation_failed', error_description: expect.stringContaining(problem) },
      });
    expect(await reply({ decision: 'approve' })).toMatchObject({ status: 422 });
    await worker.end('SIGKILL');
    worker = await product.worker();
    await eventually(async () => {
      const steps = (await member.api.get(`/execute_flow/${execution}/monitoring`)).body.steps;
      expect(steps.at(-1)).toMatchObject({ attempts: 2 });
    });
    expect(await item()).toMatchObject({ _id: asked._id, status: 'waiting' });
    const values = { name: 'Ada Lovelace', email: 'ada@example.com', check: true, integer: 7 };
    expect(await reply({ decision: 'accept', values })).toMatchObject({ status: 200, body: { status: 'approved' } });
    const over = await untilExecution(member, execution, 'completed');
    expect(over.execution_context.waiting_for).toBeNull();
    const [{ text }] = answersTo(model, 'asks') ?? [];
    expect(text).toContain('Name: Ada Lovelace');
    expect(text).toContain('"firstLine": "It was a dark and stormy night."');
    expect(await reply({ decision: 'accept', values })).toMatchObject({ status: 409 });
    const kept = await deps.mongo.collections.mcp_elicitations.findOne({ execution_id: execution });
    // A text with a space cannot occur in what is sealed by chance.
    expect(JSON.stringify(kept)).not.toContain('Ada Lovelace');
  });

  test('receives that a person declined, and that nobody answered in time', async () => {
    verifies('mcp-client.elicitation');
    const [declined, late] = [await asking('declined'), await asking('late')];
    expect(await declined.reply({ decision: 'reject' })).toMatchObject({ body: { status: 'rejected' } });
    // Simulates that the time limit has passed.
    await deps.mongo.collections.mcp_elicitations.updateOne({ execution_id: late.execution }, { $set: { until: 1 } });
    await untilExecution(declined.member, declined.execution, 'completed');
    expect(JSON.stringify(answersTo(model, 'declined'))).toContain('declined');
    await untilExecution(late.member, late.execution, 'completed');
    expect(JSON.stringify(answersTo(model, 'late'))).toContain('cancelled');
    expect(await late.reply({ decision: 'cancel' })).toMatchObject({ status: 409 });
    expect(await late.item()).toBeUndefined();
  });

  test('can be a tool that is called only as a task', async () => {
    verifies('mcp-client.elicitation', 'mcp-client.every-tool');
    const input = { topic: 'python', ambiguous: true };
    const { member, execution, reply } = await asking('task', 'simulate-research-query', input);
    expect(await reply({ decision: 'accept', values: { interpretation: 'snake' } })).toMatchObject({ status: 200 });
    await untilExecution(member, execution, 'completed');
    expect(answersTo(model, 'task')).toMatchObject([
      { text: expect.stringContaining('Research Report: python (snake)') },
    ]);
  });

  test('waits longer by the length of a pause of the run', async () => {
    verifies('mcp-client.elicitation');
    const { member, execution, item, reply } = await asking('paused');
    const { mcp_elicitations } = deps.mongo.collections;
    const clock = (of: object) =>
      eventually(async () => expect(await mcp_elicitations.findOne({ execution_id: execution })).toMatchObject(of));
    expect(await moveExecution(member, execution, 'pause')).toMatchObject({ status: 200 });
    await clock({ clock_stopped_at: expect.any(Number) });
    // Simulates a long pause of the run that began a minute before the time limit.
    await mcp_elicitations.updateOne({ execution_id: execution }, { $set: { clock_stopped_at: 40, until: 100 } });
    expect(await item()).toMatchObject({ status: 'waiting', may_decide: true });
    expect(await moveExecution(member, execution, 'resume')).toMatchObject({ status: 200 });
    await clock({ clock_stopped_at: null, status: 'waiting' });
    expect((await item()).expires_at - epochSeconds()).toBeLessThan(61);
    expect(await reply({ decision: 'reject' })).toMatchObject({ status: 200 });
    await untilExecution(member, execution, 'completed');
    expect(JSON.stringify(answersTo(model, 'paused'))).toContain('declined');
  });
});
