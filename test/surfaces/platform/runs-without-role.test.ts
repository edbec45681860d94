import { describe, expect, test } from '@jest/globals';
import { setPlan } from '../../../src/domain/customers/operations/account.js';
import { createPerson } from '../../auth/auth-server.js';
import { ask, decide, heldApproval, useActs, type Governed } from '../../support/acts.js';
import { apiClient } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { startExecution } from '../../support/executions.js';
import { createKey } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const { deps, sink, governed, outcomesOf } = await useActs();
const { collections } = deps.mongo;

/** A run of a member whose act waits for an approval. */
async function withHeldAct() {
  const of = await governed(ask);
  const { workspace } = of;
  const person = await createPerson(deps, { workspace, role: 'PROJECT_ADMIN' });
  const apiKey = await createKey(deps, { ...workspace, userId: person.userId }, { role: 'PROJECT_ADMIN' });
  const theirs = {
    ...workspace,
    userId: person.userId,
    apiKey,
    api: apiClient(testRun().url, { 'x-api-key': apiKey }),
  };
  const id = await startExecution(theirs, flowThatCalls([`${sink.url}${of.prefix}/post`]));
  const approvalId = await heldApproval(of, id);
  const path = `/project-member/${workspace.projectID}`;
  return {
    of,
    id,
    approvalId,
    remove: async () => expect(await workspace.api.delete(`${path}/${person.userId}`)).toMatchObject({ status: 200 }),
    add: async (role: string) =>
      expect(await workspace.api.post(path, { user_id: person.userId, role })).toMatchObject({ status: 201 }),
    narrow: async (role: string) =>
      expect(await workspace.api.patch(`${path}/${person.userId}`, { role })).toMatchObject({ status: 200 }),
    userId: person.userId,
  };
}

const runOf = async ({ workspace }: Governed, id: string) => (await workspace.api.get(`/execute_flow/${id}`)).body;
const untilHeld = (of: Governed, id: string) =>
  eventually(async () => {
    const run = await runOf(of, id);
    expect(run).toMatchObject({ status: 'paused', execution_context: { hold: { reason: expect.any(String) } } });
  });

describe('the run of a person who has no role that permits it', () => {
  test('withdraws its act and waits for an admin, who cannot resume it before the person has a role again', async () => {
    verifies('auth.no-authority');
    const { of, id, approvalId, remove, add, userId } = await withHeldAct();
    await remove();
    await untilHeld(of, id);
    await eventually(async () =>
      expect(await collections.approvals.findOne({ _id: approvalId })).toMatchObject({ status: 'rejected' }),
    );
    expect((await decide(of.approver, approvalId, 'approve')).status).toBe(409);
    const { body } = await of.workspace.api.get('/inbox');
    expect(body.data).toMatchObject([
      { _id: `run:${id}`, kind: 'run', execution_id: id, may_decide: true, body: { user_id: userId } },
    ]);
    const reply = (decision: string) => of.approver.post(`/inbox/run:${id}/reply`, { decision });
    expect(await reply('approve')).toMatchObject({ status: 409 });
    expect((await of.workspace.api.post(`/execute_flow/${id}/resume`, {})).status).toBe(409);
    await add('MEMBER');
    expect(await reply('approve')).toMatchObject({ status: 200, body: { status: 'approved' } });
    await eventually(async () => expect(await runOf(of, id)).toMatchObject({ status: 'completed' }));
    expect(of.seen('post')).toBe(0);
    expect(await outcomesOf(of)).not.toContainEqual(expect.stringContaining('completed'));
    expect((await of.workspace.api.get('/inbox')).body.data).toEqual([]);
  });

  test('goes on while one of several roles permits it, and is held once none does', async () => {
    verifies('auth.no-authority', 'roles.union');
    const { of, id, userId } = await withHeldAct();
    const change = (roles: string[]) =>
      of.workspace.api.patch(`/project-member/${of.workspace.projectID}/${userId}`, { roles });
    expect(await change(['VIEWER', 'MEMBER'])).toMatchObject({ status: 200, body: { role: 'MEMBER' } });
    const swept = async () =>
      expect(await collections.role_changes.findOne({ user_id: userId, attempts: { $gt: 0 } })).not.toBeNull();
    await eventually(swept);
    expect(await runOf(of, id)).toMatchObject({ status: 'running' });
    expect(await change(['VIEWER', 'APPROVER'])).toMatchObject({ status: 200, body: { role: 'APPROVER' } });
    await untilHeld(of, id);
    expect((await of.workspace.api.post(`/execute_flow/${id}/cancel`, {})).status).toBe(200);
  });

  test('is held if its role is narrowed, and an admin can end it', async () => {
    verifies('auth.no-authority');
    const { of, id, narrow } = await withHeldAct();
    await narrow('VIEWER');
    await untilHeld(of, id);
    expect(await of.approver.post(`/inbox/run:${id}/reply`, { decision: 'reject' })).toMatchObject({ status: 200 });
    await eventually(async () =>
      expect(await runOf(of, id)).toMatchObject({
        status: 'failed',
        execution_context: { failure: { reason: 'cancelled' } },
      }),
    );
    expect(of.seen('post')).toBe(0);
  });

  test('makes no act that is approved after its user was deleted, even if nobody noticed the deletion', async () => {
    verifies('auth.no-authority');
    const { of, id, approvalId, userId } = await withHeldAct();
    await collections.api_keys.updateMany({ 'scope.user_id': userId }, { $set: { revoked_at: 1 } });
    await collections.users.deleteOne({ _id: userId });
    expect(await decide(of.approver, approvalId, 'approve')).toMatchObject({ status: 200 });
    await untilHeld(of, id);
    expect(of.seen('post')).toBe(0);
  });

  test('ends if the organization has chosen that', async () => {
    verifies('auth.no-authority');
    const { of, id, remove } = await withHeldAct();
    await setPlan(collections, of.workspace.organizationId, { runs_without_role: 'end' });
    await remove();
    await eventually(async () =>
      expect(await runOf(of, id)).toMatchObject({
        status: 'failed',
        execution_context: { failure: { reason: 'cancelled', by: 'service' } },
      }),
    );
    expect(of.seen('post')).toBe(0);
  });
});
