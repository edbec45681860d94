import { describe, expect, test } from '@jest/globals';
import { ElicitationCompleteNotificationSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createKey, userTokenOf, useDeps } from '../../support/fixture.js';
import { newId } from '../../../src/base/ids.js';
import { eventually } from '../../support/eventually.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { connect, connectModern, connectSse, textOf, useClients } from './clients.js';
import { governedWorkspace, onlyApproval } from './governed.js';
import { openGrant, publicUrl } from './oauth-grant.js';

const deps = useDeps();
useClients();

const saved = { entities: [{ id: 'one', type: 'Thing', name: 'one' }] };
const call = { name: 'save_context', arguments: saved };
const forms = { capabilities: { elicitation: { form: {} } } };

describe('a call held for approval', () => {
  test('explains the completion to a client without elicitation, and completes with the approval id', async () => {
    verifies('mcp.approval');
    const workspace = await governedWorkspace(deps);
    for (const client of [
      (await connect(workspace.apiKey)).client,
      await connectSse(workspace.apiKey),
      await connectModern(workspace.apiKey),
    ]) {
      await client.listTools();
      const held = await client.callTool(call);
      expect(held.isError).toBeFalsy();
      expect(held.structuredContent).toMatchObject({
        status: 'pending_approval',
        approval_id: expect.any(String),
        expires_at: expect.any(Number),
        lifecycle_id: expect.any(String),
      });
      const { approval_id } = held.structuredContent as any;
      const finish = { name: 'save_context', arguments: { ...saved, approval_id } };
      expect((await client.callTool(finish)).structuredContent).toMatchObject({
        status: 'pending_approval',
        approval_id,
      });
      await workspace.decide(approval_id, 'approve');
      expect((await client.callTool(finish)).structuredContent).toMatchObject({ saved: { entities: 1 } });
      const again = await client.callTool(finish);
      expect(again).toMatchObject({ isError: true });
      expect(textOf(again)).toMatchObject({
        error: 'S6:approval',
        lifecycle_id: expect.any(String),
        approval_status: 'used',
      });
    }
  });

  test('completes with the resume token in _meta', async () => {
    const workspace = await governedWorkspace(deps);
    const { client } = await connect(workspace.apiKey);
    const { approval_id } = (await client.callTool(call)).structuredContent as any;
    await workspace.decide(approval_id, 'approve');
    const { body } = await workspace.gateway.get(`/v1/approvals/${approval_id}`);
    const finished = await client.callTool({ ...call, _meta: { 'svc/resume_token': body.resume_token } });
    expect(finished.structuredContent).toMatchObject({ saved: { entities: 1 } });
  });

  test('is refused after a rejection, and for another payload, another caller or an unknown approval', async () => {
    verifies('mcp.tools.refusal');
    const workspace = await governedWorkspace(deps);
    const { client } = await connect(workspace.apiKey);
    const { approval_id } = (await client.callTool(call)).structuredContent as any;
    await workspace.decide(approval_id, 'approve');
    const other = await client.callTool({
      name: 'save_context',
      arguments: { entities: [{ type: 'Thing', name: 'other' }], approval_id },
    });
    expect(textOf(other)).toMatchObject({ error: 'S6:approval' });
    const colleague = await connect(await createKey(deps, { ...workspace, userId: newId() }));
    expect(
      textOf(await colleague.client.callTool({ name: 'save_context', arguments: { ...saved, approval_id } })),
    ).toMatchObject({ error: 'S6:approval' });
    expect(
      textOf(await client.callTool({ name: 'save_context', arguments: { ...saved, approval_id: newId() } })),
    ).toMatchObject({ error: 'S6:approval' });
    const second = { name: 'save_context', arguments: { entities: [{ type: 'Thing', name: 'second' }] } };
    const { approval_id: rejected } = (await client.callTool(second)).structuredContent as any;
    await workspace.decide(rejected, 'reject');
    const refused = await client.callTool({ ...second, arguments: { ...second.arguments, approval_id: rejected } });
    expect(textOf(refused)).toMatchObject({ error: 'S6:approval', approval_status: 'rejected' });
  });

  test('asks the person by elicitation, and completes in the same call after the approval', async () => {
    verifies('mcp.approval');
    const workspace = await governedWorkspace(deps);
    const { client } = await connect(workspace.apiKey, { client: forms });
    const asked: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params.message);
      // The first time, the person accepts before the approval is given.
      if (asked.length > 1) await workspace.decide(await onlyApproval(workspace), 'approve');
      return { action: 'accept', content: {} };
    });
    await client.listTools();
    expect((await client.callTool(call)).structuredContent).toMatchObject({ saved: { entities: 1 } });
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain('approval');
  });

  test('stays held if the person declines', async () => {
    verifies('mcp.approval');
    const workspace = await governedWorkspace(deps);
    const { client } = await connect(workspace.apiKey, { client: forms });
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'decline' as const }));
    expect((await client.callTool(call)).structuredContent).toMatchObject({ status: 'pending_approval' });
    const modern = await connectModern(workspace.apiKey, { client: forms });
    modern.setRequestHandler('elicitation/create', async () => ({ action: 'decline' as const }));
    expect((await modern.callTool(call)).structuredContent).toMatchObject({ status: 'pending_approval' });
  });

  test('asks a person who accepts before the approval three times, then ends as pending with its id', async () => {
    verifies('mcp.approval.rounds');
    const workspace = await governedWorkspace(deps);
    let asked = 0;
    const accept = async () => {
      asked += 1;
      return { action: 'accept' as const, content: {} };
    };
    const { client } = await connect(workspace.apiKey, { client: forms });
    client.setRequestHandler(ElicitRequestSchema, accept);
    const modern = await connectModern(workspace.apiKey, { client: forms });
    modern.setRequestHandler('elicitation/create', accept);
    for (const each of [client, modern]) {
      asked = 0;
      expect((await each.callTool(call)).structuredContent).toMatchObject({
        status: 'pending_approval',
        approval_id: await onlyApproval(workspace),
      });
      expect(asked).toBe(3);
    }
  });

  test('opens the approval page in a client that supports it, and completes after the decision', async () => {
    verifies('mcp.approval.page');
    const workspace = await governedWorkspace(deps);
    const pages = { capabilities: { elicitation: { url: {} } } };
    const opened: any[] = [];
    const open = async ({ params }: { params: unknown }) => {
      opened.push(params);
      await workspace.decide(await onlyApproval(workspace), 'approve');
      return { action: 'accept' as const };
    };
    const { client } = await connect(workspace.apiKey, { client: pages });
    client.setRequestHandler(ElicitRequestSchema, open);
    const ended: string[] = [];
    client.setNotificationHandler(
      ElicitationCompleteNotificationSchema,
      ({ params }) => void ended.push(params.elicitationId),
    );
    const modern = await connectModern(workspace.apiKey, { client: pages });
    modern.setRequestHandler('elicitation/create', open);
    for (const each of [client, modern])
      expect((await each.callTool(call)).structuredContent).toMatchObject({ saved: { entities: 1 } });
    expect(opened).toHaveLength(2);
    const { pathname } = new URL(opened[0].url);
    expect(pathname).toMatch(new RegExp(`^/console/projects/${workspace.projectID}/approvals/[0-9a-f-]{36}$`));
    expect(opened[0]).toMatchObject({ mode: 'url', elicitationId: pathname.split('/').at(-1) });
    await eventually(() => expect(ended).toEqual([opened[0].elicitationId]));
    // A signed-out person is redirected to sign in, and returns.
    expect((await fetch(testRun().url + pathname, { redirect: 'manual' })).status).toBe(303);
  });

  test('gives every other client the address of the approval page', async () => {
    verifies('mcp.approval.page');
    const workspace = await governedWorkspace(deps);
    const { approval_id, approval_url, how_to_finish } = (await (await connect(workspace.apiKey)).client.callTool(call))
      .structuredContent as any;
    expect(new URL(approval_url).pathname).toBe(`/console/projects/${workspace.projectID}/approvals/${approval_id}`);
    expect(how_to_finish).toContain(approval_url);
  });

  test('is input_required with a sealed state in the stateless revision', async () => {
    verifies('mcp.approval', 'mcp.stateless-revision');
    const workspace = await governedWorkspace(deps);
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

  test('refuses a state that was changed or belongs to another caller or another tool', async () => {
    verifies('mcp.stateless-revision');
    const workspace = await governedWorkspace(deps);
    const client = await connectModern(workspace.apiKey, { client: forms });
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept' as const, content: {} }));
    const held: any = await client.callTool(call, { allowInputRequired: true });
    expect(held).toMatchObject({
      resultType: 'input_required',
      requestState: expect.any(String),
      inputRequests: { approval: expect.anything() },
    });
    const approvalId = await onlyApproval(workspace);
    expect(held.requestState).not.toContain(approvalId);
    await workspace.decide(approvalId, 'approve');
    const inputResponses = { approval: { action: 'accept', content: {} } };
    const retry = (with_: any, from = client) =>
      from.callTool(
        { ...call, inputResponses, requestState: held.requestState, ...with_ },
        { allowInputRequired: true },
      );
    await expect(retry({ requestState: `${held.requestState.slice(0, -4)}AAAA` })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(retry({ name: 'docs', arguments: { topic: 'errors' } })).rejects.toMatchObject({ code: -32602 });
    const stranger = await connectModern(await createKey(deps, workspace), { client: forms });
    await expect(retry({}, stranger)).rejects.toMatchObject({ code: -32602 });
    expect(((await retry({})) as any).structuredContent).toMatchObject({ saved: { entities: 1 } });
  });
});

describe('the tool inbox', () => {
  const callInbox = async (credential: string, input: object, options = {}) => {
    const { client } = await connect(credential, options);
    return textOf(await client.callTool({ name: 'inbox', arguments: { ...input } }));
  };

  test('lets the person behind the session decide the calls of others, and refuses everybody else', async () => {
    verifies('mcp.inbox');
    const workspace = await governedWorkspace(deps);
    const { client } = await connect(workspace.apiKey);
    const { approval_id } = (await client.callTool(call)).structuredContent as any;
    const item_id = `approval:${approval_id}`;
    const reply = { operation: 'reply', item_id, decision: 'approve', reason: 'As agreed' };
    const person = await userTokenOf(deps, workspace, { userId: newId() });
    const itself = await userTokenOf(deps, workspace);
    const member = await createKey(deps, { ...workspace, userId: newId() }, { role: 'MEMBER' });
    const scopes = ['svc:orchestrate.read', 'svc:orchestrate.write'] as const;
    const grant = await openGrant(deps, workspace, [...scopes]);
    await grant.renew();
    expect(await callInbox(person, { operation: 'list' })).toMatchObject({
      items: [{ _id: item_id, kind: 'approval', status: 'waiting', may_decide: true, body: { tool: 'save-context' } }],
    });
    const refused = { error: expect.stringMatching(/not_found|S2:resolve-scope/) };
    // The requester, a key without the grant of approvers, and an OAuth client, which can never have this grant.
    expect(await callInbox(itself, reply)).toMatchObject({
      ...refused,
      error_description: expect.stringContaining('own request'),
    });
    expect(await callInbox(itself, { operation: 'get', item_id })).toMatchObject({ items: [{ may_decide: false }] });
    expect(await callInbox(member, reply)).toMatchObject(refused);
    expect(await callInbox(grant.current, reply, { url: publicUrl })).toMatchObject(refused);
    expect(await callInbox(person, { ...reply, dry_run: true })).toMatchObject({
      would: { reply: { item_id, may_decide: true, decision: 'approve' } },
    });
    expect(await callInbox(person, reply)).toMatchObject({ items: [{ _id: item_id, status: 'approved' }] });
    expect(await callInbox(person, reply)).toMatchObject({ error: 'conflict' });
    expect(await callInbox(person, { operation: 'list' })).toMatchObject({ items: [] });
    const finished = await client.callTool({ name: 'save_context', arguments: { ...saved, approval_id } });
    expect(finished.structuredContent).toMatchObject({ saved: { entities: 1 } });
  });
});
