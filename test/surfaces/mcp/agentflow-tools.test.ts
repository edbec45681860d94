import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { newId } from '../../../src/base/ids.js';
import { eventually } from '../../support/eventually.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';
import { connect, connectModern, useClients } from './clients.js';
import { useOwnMcp } from './own-mcp.js';

const deps = useDeps();
useClients();
const serveMcp = useOwnMcp(deps);

const number = { $ref: '#/$defs/number' };
const twice = {
  name: 'Double a number!',
  description: 'Doubles a number.',
  expose_as_tool: true,
  initialAgent: 'twice',
  input_schema: { type: 'object', properties: { n: number }, required: ['n'], $defs: { number: { type: 'integer' } } },
  output_schema: {
    type: 'object',
    properties: { twice: number },
    required: ['twice'],
    additionalProperties: false,
    $defs: { number: { type: 'number', minimum: 0 } },
  },
  steps: [{ _id: 'twice', type: 'set', values: { twice: 'inputs.n * 2' } }],
};

async function store({ api }: Workspace, flow: object): Promise<string> {
  const made = await api.post('/agentflow', flow);
  expect(made).toMatchObject({ status: 201 });
  return made.body._id;
}

async function exposed(workspace: Workspace, flow: object = twice): Promise<string> {
  const id = await store(workspace, flow);
  expect(await workspace.api.post(`/agentflow/${id}/promote`, {})).toMatchObject({ status: 200 });
  return id;
}

const own = (tools: readonly { name: string }[]) =>
  tools.map(({ name }) => name).filter((name) => name.startsWith('flow_'));
const call = (input: object) => ({ name: 'flow_double_a_number', arguments: { goal: 'Double it', ...input } });

describe('an agentflow that is a tool', () => {
  test('is listed with its schemas, and returns its typed output over every protocol version', async () => {
    verifies('mcp.tools.agentflows');
    const workspace = await createWorkspace(deps);
    const agentflow_id = await exposed(workspace);
    const { client } = await connect(workspace.apiKey);
    const modern = await connectModern(workspace.apiKey);
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === 'flow_double_a_number');
    expect(tool).toMatchObject({
      title: 'Double a number!',
      description: 'Doubles a number.',
      inputSchema: { properties: { goal: { type: 'string' }, n: number }, required: ['goal', 'n'] },
    });
    const answers = [await client.callTool(call({ n: 21 })), await modern.callTool(call({ n: 21 }))];
    const matches = new Ajv2020({ strict: false }).compile(tool?.outputSchema ?? {});
    for (const { structuredContent } of answers) {
      expect(structuredContent).toMatchObject({ status: 'completed', version: 1, output: { twice: 42 } });
      expect(matches(structuredContent)).toBe(true);
    }
    expect(matches({ ...(answers[0]?.structuredContent as object), output: { twice: -1 } })).toBe(false);
    const runs = await deps.mongo.collections.executions.find({ agentflow_id }).toArray();
    expect(runs).toHaveLength(2);
    expect(runs[0]).toMatchObject({ goal: 'Double it', input_variables: { n: 21 } });
  });

  test('names each problem of its inputs, reports a failure, and follows a run that goes on', async () => {
    verifies('mcp.tools.agentflows');
    const workspace = await createWorkspace(deps);
    await exposed(workspace);
    await exposed(workspace, { ...twice, name: 'Wrong', steps: [{ ...twice.steps[0], values: { wrong: '1' } }] });
    const waits = { name: 'Waits', expose_as_tool: true, initialAgent: 'w' };
    await exposed(workspace, { ...waits, steps: [{ _id: 'w', type: 'wait', event: { name: 'go' } }] });
    const { client } = await connect(workspace.apiKey);
    await client.listTools();
    const refused = await client.callTool(call({ n: 'x' }));
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused.content)).toContain('inputs.n: must be an integer');
    const failed = await client.callTool({ name: 'flow_wrong', arguments: { goal: 'g', n: 1 } });
    expect(failed.structuredContent).toMatchObject({ status: 'failed', failure: { code: 'output_invalid' } });
    const checked = await client.callTool(call({ n: 1, dry_run: true }));
    expect(checked.structuredContent).toMatchObject({ dry_run: true });
    const started = client.callTool({ name: 'flow_waits', arguments: { goal: 'g' } });
    const run = await eventually(async () => {
      const found = await deps.mongo.collections.executions.findOne({
        projectID: workspace.projectID,
        'agentflow.name': 'Waits',
      });
      expect(await workspace.api.post(`/execute_flow/${found?._id}/events`, { name: 'go', data: 7 })).toMatchObject({
        status: 200,
      });
      return found;
    });
    expect((await started).structuredContent).toMatchObject({ execution_id: run?._id, status: 'completed', output: 7 });
  });

  test('is governed like run_agent', async () => {
    verifies('mcp.tools.agentflows');
    const workspace = await createWorkspace(deps);
    const agentflow_id = await exposed(workspace);
    const admin = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
    const policies = [
      { policy_id: 'permit', effect: 'permit' },
      { policy_id: 'ask', effect: 'require_approval', tools: ['execution.start'] },
    ];
    expect(await admin.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
    const { client } = await connect(workspace.apiKey);
    const { structuredContent: held } = await client.callTool(call({ n: 4 }));
    expect(held).toMatchObject({ status: 'pending_approval' });
    const { approval_id } = held as { approval_id: string };
    expect(await deps.mongo.collections.executions.countDocuments({ agentflow_id })).toBe(0);
    expect(await admin.post(`/v1/approvals/${approval_id}/approve`, {})).toMatchObject({ status: 200 });
    const done = await client.callTool(call({ n: 4, approval_id }));
    expect(done.structuredContent).toMatchObject({ status: 'completed', output: { twice: 8 } });
  });

  test('belongs to its project, exists while it is exposed, active and in production, and says when it changes', async () => {
    verifies('mcp.tools.agentflows', 'mcp.list-changed');
    const mcp = await serveMcp({ sweepMs: 50 });
    const workspace = await createWorkspace(deps);
    const { client } = await connect(workspace.apiKey, { url: mcp.url });
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changes += 1));
    const id = await store(workspace, twice);
    expect(own((await client.listTools()).tools)).toEqual([]);
    expect(await workspace.api.post(`/agentflow/${id}/promote`, {})).toMatchObject({ status: 200 });
    await eventually(() => expect(changes).toBe(1));
    expect(own((await client.listTools()).tools)).toEqual(['flow_double_a_number']);
    const stranger = await connect((await createWorkspace(deps)).apiKey);
    expect(own((await stranger.client.listTools()).tools)).toEqual([]);
    await expect(stranger.client.callTool(call({ n: 1 }))).rejects.toMatchObject({ code: -32602 });
    for (const change of [{ isActive: false }, { isActive: true, expose_as_tool: false }]) {
      expect(await workspace.api.patch(`/agentflow/${id}`, change)).toMatchObject({ status: 200 });
      await eventually(async () => expect(own((await client.listTools()).tools)).toEqual([]));
      await expect(client.callTool(call({ n: 1 }))).rejects.toMatchObject({ code: -32602 });
    }
  });

  test('has a name that no other tool has', async () => {
    verifies('mcp.tools.agentflows.names');
    const workspace = await createWorkspace(deps);
    const { api } = workspace;
    await exposed(workspace, { ...twice, name: `Äpfel & Birnen ${'x'.repeat(80)}` });
    await exposed(workspace, { ...twice, name: 'run agent' });
    const { client } = await connect(workspace.apiKey);
    const names = own((await client.listTools()).tools);
    expect(names).toEqual([`flow_a_pfel_birnen_${'x'.repeat(45)}`, 'flow_run_agent']);
    const refused: [object, string][] = [
      [{ name: 'Run: agent' }, 'is already the tool flow_run_agent'],
      [{ name: '計算' }, 'letters from a to z'],
      [{ name: 'Dry', input_schema: { type: 'object', properties: { dry_run: {} } } }, '"dry_run"'],
    ];
    for (const [change, problem] of refused)
      expect(await api.post('/agentflow', { ...twice, ...change })).toMatchObject(
        refusal(422, 'validation_failed', problem),
      );
    const hidden = await store(workspace, { ...twice, name: 'Run agent', expose_as_tool: false });
    expect(await api.patch(`/agentflow/${hidden}`, { expose_as_tool: true })).toMatchObject(
      refusal(422, 'validation_failed', 'is already the tool'),
    );
  });
});
