import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import type { ApiClient } from '../../support/client.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();

async function created(api: ApiClient): Promise<string> {
  const { body } = await api.post('/agentflow', { name: 'Flow', agents: [{ _id: 'a', title: 'A' }] });
  return body._id as string;
}

async function editorOf(workspace: Workspace) {
  const userId = newId();
  return { userId, api: await personOf(deps, workspace, { role: 'EDITOR', userId }) };
}

const say = (api: ApiClient, id: string, state: string, window = 'one') =>
  api.post(`/agentflow/${id}/editing`, { window, state });

describe('POST /agentflow/{id}/editing', () => {
  test('names the other people who have the editor open, until they close it or say nothing more', async () => {
    verifies('agentflows.editing');
    const workspace = await createWorkspace(deps);
    const [ines, jonas] = await Promise.all([editorOf(workspace), editorOf(workspace)]);
    const id = await created(workspace.api);
    const before = await workspace.api.get(`/agentflow/${id}`);
    expect(await say(ines.api, id, 'open')).toMatchObject({ status: 200, body: { data: [] } });
    const { body: first } = await say(jonas.api, id, 'open');
    expect(first.data).toEqual([{ user_id: ines.userId, since: expect.any(Number), has_changes: false }]);
    // Two windows of one person are one editor, who is there since the first one was opened.
    await say(ines.api, id, 'changed', 'two');
    const { body: second } = await say(jonas.api, id, 'changed');
    expect(second.data).toEqual([{ ...first.data[0], has_changes: true }]);
    expect((await say(ines.api, id, 'changed', 'two')).body.data).toMatchObject([{ user_id: jonas.userId }]);
    // A late message of a window that was closed has no effect on the other one.
    await say(ines.api, id, 'closed', 'one');
    expect((await say(jonas.api, id, 'changed')).body.data).toMatchObject([{ user_id: ines.userId }]);
    await say(ines.api, id, 'closed', 'two');
    expect((await say(jonas.api, id, 'changed')).body.data).toEqual([]);
    // The time of Jonas is over.
    await deps.mongo.collections.agentflow_editors.updateMany(
      { agentflow_id: id },
      { $set: { expires_at: new Date(Date.now() - 1000), since: 1 } },
    );
    expect((await say(ines.api, id, 'open')).body.data).toEqual([]);
    await say(jonas.api, id, 'open');
    const { body: back } = await say(ines.api, id, 'open');
    expect(back.data).toMatchObject([{ user_id: jonas.userId, has_changes: false }]);
    expect(back.data[0].since).toBeGreaterThan(1);
    expect((await workspace.api.get(`/agentflow/${id}`)).body).toEqual(before.body);
  });

  test('is only for people who may change this agentflow, and takes short texts', async () => {
    verifies('agentflows.editing');
    const [workspace, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const id = await created(workspace.api);
    for (const role of ['VIEWER', 'APPROVER', 'MEMBER'] as const) {
      const person = await personOf(deps, workspace, { role, userId: newId() });
      expect([role, await say(person, id, 'open')]).toMatchObject([role, { status: 403 }]);
    }
    const unknown = refusal(404, 'not_found', 'the agentflow');
    expect(await say(stranger.api, id, 'open')).toMatchObject(unknown);
    expect(await say(workspace.api, 'unknown', 'open')).toMatchObject(unknown);
    expect(await say(workspace.api, id, 'open', 'x'.repeat(65))).toMatchObject(
      refusal(400, 'invalid_request', 'window'),
    );
    expect(await say(workspace.api, id, 'asleep')).toMatchObject(refusal(400, 'invalid_request', 'state'));
    const { collections } = deps.mongo;
    expect(await collections.agentflow_editors.countDocuments({ agentflow_id: { $in: [id, 'unknown'] } })).toBe(0);
    expect(await workspace.api.delete(`/agentflow/${id}`)).toMatchObject({ status: 200 });
    expect(await say(workspace.api, id, 'open')).toMatchObject(unknown);
  });
});
