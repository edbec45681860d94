import { describe, expect, test } from '@jest/globals';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createKey, useDeps } from '../support/fixture.js';
import { bearerClient, createGatewayWorkspace, type GatewayWorkspace } from '../support/gateway.js';
import { newId } from '../../src/ids.js';
import { eventually } from '../support/eventually.js';
import type { ApiClient } from '../support/client.js';
import { verifies } from '../support/verifies.js';
import { connect, connectModern, connectSse, textOf, useClients } from './clients.js';

const deps = useDeps();
useClients();

const saved = { entities: [{ id: 'one', type: 'Thing', name: 'one' }] };
const call = { name: 'save_context', arguments: saved };
const forms = { capabilities: { elicitation: { form: {} } } };

interface Governed extends GatewayWorkspace {
  approver: ApiClient;
  decide(approvalId: string, decision: 'approve' | 'reject'): Promise<void>;
}

/** A project whose organization asks for an approval of every save, and somebody else who gives it. */
async function governed(): Promise<Governed> {
  const workspace = await createGatewayWorkspace(deps);
  const approver = bearerClient(await createKey(deps, { ...workspace, userId: newId() }));
  const policies = [
    { policy_id: 'all', effect: 'permit' },
    { policy_id: 'ask', effect: 'require_approval', tools: ['save-context'] },
  ];
  expect(await approver.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
  return {
    ...workspace,
    approver,
    async decide(approvalId, decision) {
      expect(await approver.post(`/v1/approvals/${approvalId}/${decision}`, {})).toMatchObject({ status: 200 });
    },
  };
}

async function onlyApproval({ approver }: Governed): Promise<string> {
  return eventually(async () => {
    const { body } = await approver.get('/v1/approvals?status=pending');
    expect(body.data).toHaveLength(1);
    return body.data[0].approval_id as string;
  });
}

describe('a call held for approval', () => {
  test('tells a client without elicitation how to finish, and is finished by the approval id', async () => {
    verifies('mcp.approval');
    const workspace = await governed();
    for (const client of [(await connect(workspace.apiKey)).client, await connectSse(workspace.apiKey), await connectModern(workspace.apiKey)]) {
      await client.listTools();
      const held = await client.callTool(call);
      expect(held.isError).toBeFalsy();
      expect(held.structuredContent).toMatchObject({ status: 'pending_approval', approval_id: expect.any(String), expires_at: expect.any(Number), lifecycle_id: expect.any(String) });
      const { approval_id } = held.structuredContent as any;
      const finish = { name: 'save_context', arguments: { ...saved, approval_id } };
      expect((await client.callTool(finish)).structuredContent).toMatchObject({ status: 'pending_approval', approval_id });
      await workspace.decide(approval_id, 'approve');
      expect((await client.callTool(finish)).structuredContent).toMatchObject({ saved: { entities: 1 } });
      const again = await client.callTool(finish);
      expect(again).toMatchObject({ isError: true });
      expect(textOf(again)).toMatchObject({ error: 'S6:approval', lifecycle_id: expect.any(String), approval_status: 'approved' });
    }
  });

  test('is finished by the resume token itself in _meta', async () => {
    const workspace = await governed();
    const { client } = await connect(workspace.apiKey);
    const { approval_id } = (await client.callTool(call)).structuredContent as any;
    await workspace.decide(approval_id, 'approve');
    const { body } = await workspace.gateway.get(`/v1/approvals/${approval_id}`);
    const finished = await client.callTool({ ...call, _meta: { 'svc/resume_token': body.resume_token } });
    expect(finished.structuredContent).toMatchObject({ saved: { entities: 1 } });
  });

  test('is refused when rejected, and for another payload, another caller or an unknown approval', async () => {
    verifies('mcp.tools.refusal');
    const workspace = await governed();
    const { client } = await connect(workspace.apiKey);
    const { approval_id } = (await client.callTool(call)).structuredContent as any;
    await workspace.decide(approval_id, 'approve');
    const other = await client.callTool({ name: 'save_context', arguments: { entities: [{ type: 'Thing', name: 'other' }], approval_id } });
    expect(textOf(other)).toMatchObject({ error: 'S6:approval' });
    const colleague = await connect(await createKey(deps, { ...workspace, userId: newId() }));
    expect(textOf(await colleague.client.callTool({ name: 'save_context', arguments: { ...saved, approval_id } }))).toMatchObject({ error: 'S6:approval' });
    expect(textOf(await client.callTool({ name: 'save_context', arguments: { ...saved, approval_id: newId() } }))).toMatchObject({ error: 'S6:approval' });
    const second = { name: 'save_context', arguments: { entities: [{ type: 'Thing', name: 'second' }] } };
    const { approval_id: rejected } = (await client.callTool(second)).structuredContent as any;
    await workspace.decide(rejected, 'reject');
    const refused = await client.callTool({ ...second, arguments: { ...second.arguments, approval_id: rejected } });
    expect(textOf(refused)).toMatchObject({ error: 'S6:approval', approval_status: 'rejected' });
  });

  test('asks the person by elicitation, and finishes in the same call once it is approved', async () => {
    verifies('mcp.approval');
    const workspace = await governed();
    const { client } = await connect(workspace.apiKey, { client: forms });
    const asked: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params.message);
      // The first time the person is too quick.
      if (asked.length > 1) await workspace.decide(await onlyApproval(workspace), 'approve');
      return { action: 'accept', content: {} };
    });
    await client.listTools();
    expect((await client.callTool(call)).structuredContent).toMatchObject({ saved: { entities: 1 } });
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain('approval');
  });

  test('is left as it is when the person declines', async () => {
    verifies('mcp.approval');
    const workspace = await governed();
    const { client } = await connect(workspace.apiKey, { client: forms });
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'decline' as const }));
    expect((await client.callTool(call)).structuredContent).toMatchObject({ status: 'pending_approval' });
    const modern = await connectModern(workspace.apiKey, { client: forms });
    modern.setRequestHandler('elicitation/create', async () => ({ action: 'decline' as const }));
    expect((await modern.callTool(call)).structuredContent).toMatchObject({ status: 'pending_approval' });
  });

  test('is input_required with a sealed state in the stateless revision', async () => {
    verifies('mcp.approval', 'mcp.stateless-revision');
    const workspace = await governed();
    const client = await connectModern(workspace.apiKey, { client: forms });
    let asked = 0;
    client.setRequestHandler('elicitation/create', async () => {
      asked += 1;
      await workspace.decide(await onlyApproval(workspace), 'approve');
      return { action: 'accept' as const, content: {} };
    });
    await client.listTools();
    expect((await client.callTool(call)).structuredContent).toMatchObject({ saved: { entities: 1 } });
    expect(asked).toBe(1);
  });

  test('takes no state that was changed, is another caller’s or another tool’s', async () => {
    verifies('mcp.stateless-revision');
    const workspace = await governed();
    const client = await connectModern(workspace.apiKey, { client: forms });
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept' as const, content: {} }));
    const held: any = await client.callTool(call, { allowInputRequired: true });
    expect(held).toMatchObject({ resultType: 'input_required', requestState: expect.any(String), inputRequests: { approval: expect.anything() } });
    const approvalId = await onlyApproval(workspace);
    expect(held.requestState).not.toContain(approvalId);
    await workspace.decide(approvalId, 'approve');
    const inputResponses = { approval: { action: 'accept', content: {} } };
    const retry = (with_: any, from = client) => from.callTool({ ...call, inputResponses, requestState: held.requestState, ...with_ }, { allowInputRequired: true });
    await expect(retry({ requestState: `${held.requestState.slice(0, -4)}AAAA` })).rejects.toMatchObject({ code: -32602 });
    await expect(retry({ name: 'docs', arguments: { topic: 'errors' } })).rejects.toMatchObject({ code: -32602 });
    const stranger = await connectModern(await createKey(deps, workspace), { client: forms });
    await expect(retry({}, stranger)).rejects.toMatchObject({ code: -32602 });
    expect(((await retry({})) as any).structuredContent).toMatchObject({ saved: { entities: 1 } });
  });
});
