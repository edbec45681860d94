import { describe, expect, test } from '@jest/globals';
import { whyNotDecide, type DecisionKind } from '../../src/auth/decisions.js';
import { defaultGrants, Grant } from '../../src/auth/grants.js';
import type { Principal } from '../../src/auth/principal.js';
import { newId } from '../../src/base/ids.js';
import { epochSeconds } from '../../src/base/time.js';
import { createKey, createWorkspace, personOf, useDeps, type Workspace } from '../support/fixture.js';
import { bearerClient } from '../support/gateway.js';
import { seedExecution } from '../support/seeded-executions.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();

/** A preview, a memory and two questions that wait, all of the person of the workspace. */
async function waitingItems(workspace: Workspace) {
  const at = epochSeconds();
  const preview = {
    ...{ preview_id: 'writer/preview', agent_id: 'writer', title: 'Writer', kind: 'output' as const },
    ...{ proposed: { output: 'Hi' }, edits: null, requested_at: at, expires_at: at + 600 },
    ...{ decided_by: null, decided_at: null, status: 'waiting' as const },
  };
  const waiting_for = { kind: 'preview', agent_id: 'writer', requested_at: at, expires_at: at + 600 };
  const run = await seedExecution(deps, workspace, {
    ...{ status: 'running', execution_context: { waiting_for }, previews: { writer: preview } },
  });
  const memory_id = newId();
  const { memories, mcp_elicitations } = deps.mongo.collections;
  const of = { project_id: workspace.projectID, organization_id: workspace.organizationId };
  await memories.insertOne({
    ...{ _id: memory_id, ...of, user_id: workspace.userId, status: 'waiting', parts: [], source: null },
    turns: { sealed: deps.auth.box.seal('[]', memory_id) },
    ...{ review: { asked_at: at, until: at + 600 }, decided_by: null, created_at: at, ended_at: null, budget: null },
  } as never);
  const ask = async (owner: object) => {
    const _id = newId();
    await mcp_elicitations.insertOne({
      ...{ _id, ...of, execution_id: run._id, agent_id: 'writer', step_id: 's', connector_id: 'c', server: 's' },
      ...{ tool: 't', agentflow: 'f', message: 'm', form: { type: 'object', properties: {} }, status: 'waiting' },
      ...{ asked_at: at, until: at + 600, expires_at: new Date((at + 900) * 1000), ...owner },
    } as never);
    return `elicitation:${_id}`;
  };
  return {
    preview: `approval:${run._id}:writer:${Math.round(at * 1000)}`,
    memory: `memory:${memory_id}`,
    question: await ask({}),
    personal: await ask({ owner_id: workspace.userId }),
  };
}

const withoutGovernance = defaultGrants('OWNER');
const all = { preview: true, memory: true, question: true, personal: true };
const none = { preview: false, memory: false, question: false, personal: false };

describe('who decides', () => {
  test.each([
    ['the person who asked', all, (w: Workspace) => personOf(deps, w)],
    [
      'another person with the role',
      { ...all, personal: false },
      (w: Workspace) => personOf(deps, w, { userId: newId() }),
    ],
    ['a person who only reads', none, (w: Workspace) => personOf(deps, w, { userId: newId(), role: 'VIEWER' })],
    ['a person who only edits', none, (w: Workspace) => personOf(deps, w, { userId: newId(), role: 'EDITOR' })],
    [
      'a person with the role APPROVER',
      { ...all, personal: false },
      (w: Workspace) => personOf(deps, w, { userId: newId(), role: 'APPROVER' }),
    ],
    [
      'the owner of an account, as a member who asked',
      { ...none, personal: true },
      (w: Workspace) => personOf(deps, w, { role: 'MEMBER' }),
    ],
    [
      'a key with the default grants',
      none,
      async (w: Workspace) =>
        bearerClient(await createKey(deps, { ...w, userId: newId() }, { grants: withoutGovernance })),
    ],
    [
      'a key with svc:governance.write of somebody else',
      { ...none, preview: true, memory: true },
      async (w: Workspace) => bearerClient(await createKey(deps, { ...w, userId: newId() })),
    ],
    [
      'a key with svc:governance.write of the person who asked',
      none,
      async (w: Workspace) => bearerClient(await createKey(deps, w)),
    ],
  ] as const)('%s, in each item and by each route', async (_, may, clientOf) => {
    verifies('decisions.people');
    const workspace = await createWorkspace(deps);
    const items = await waitingItems(workspace);
    const client = await clientOf(workspace);
    for (const kind of Object.keys(items) as (keyof typeof items)[]) {
      const item_id = items[kind];
      const got = await client.post('/v1/inbox', { operation: 'get', item_id });
      if (got.status === 200) expect([kind, got.body.items[0].may_decide]).toEqual([kind, may[kind]]);
      const isQuestion = kind === 'question' || kind === 'personal';
      const decision = isQuestion ? 'cancel' : 'approve';
      const answers = [await client.post('/v1/inbox', { operation: 'reply', item_id, decision })];
      if (kind === 'memory') {
        const memory_id = item_id.slice('memory:'.length);
        for (const operation of ['approve', 'reject'])
          answers.push(await client.post('/v1/memory', { operation, memory_id }));
      }
      if (kind === 'preview') answers.push(await client.post(`/v1/approvals/${item_id.slice(9)}/reject`, {}));
      for (const { status } of answers) expect([kind, status === 403]).toEqual([kind, !may[kind]]);
    }
  });

  test.each(['preview', 'memory', 'elicitation'] satisfies DecisionKind[])(
    'no OAuth client and no run decides: %s',
    (kind) => {
      verifies('decisions.people');
      const caller: Principal = {
        ...{ kind: 'user_jwt', userId: 'u', organizationId: 'o', departmentId: 'd', projectId: 'p', role: 'OWNER' },
        grants: Grant.options,
      };
      expect(whyNotDecide(caller, kind, { askers: [] })).toBeNull();
      expect(whyNotDecide({ ...caller, clientId: 'app' }, kind, { askers: [] })).toContain('person');
      for (const other of ['execution', 'service'] as const)
        expect(whyNotDecide({ ...caller, kind: other }, kind, { askers: [] })).toContain('person');
    },
  );

  test('a rule can forbid people to decide what they asked for', async () => {
    verifies('decisions.own-by-rule');
    const workspace = await createWorkspace(deps);
    const items = await waitingItems(workspace);
    const [asker, other] = [await personOf(deps, workspace), await personOf(deps, workspace, { userId: newId() })];
    const own = {
      ...{ policy_id: 'four-eyes', effect: 'forbid', tools: ['execution.decide', 'memory'] },
      when: 'context.input.decides_own',
    };
    const policies = [{ policy_id: 'all', effect: 'permit' }, own];
    expect(await other.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
    for (const item_id of [items.preview, items.memory]) {
      const reply = { operation: 'reply', item_id, decision: 'approve' };
      expect(await asker.post('/v1/inbox', reply)).toMatchObject({ status: 403 });
      expect((await other.post('/v1/inbox', reply)).status).not.toBe(403);
    }
  });
});
