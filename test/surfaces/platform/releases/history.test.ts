import { expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { bearerClient } from '../../../support/gateway.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';
import { create, point, pointed, publishEach, returning } from './releases.js';

const deps = useDeps();

const historyOf = async ({ api }: Pick<Workspace, 'api'>, id: string, query = '', channel = 'production') => {
  const { status, body } = await api.get(`/agentflow/${id}/channels/${channel}/history${query}`);
  expect(status).toBe(200);
  return body;
};

test('the history of a channel has every release to which it pointed, with who, when and why', async () => {
  verifies('release.history');
  const workspace = await createWorkspace(deps);
  const id = await create(workspace, returning(0));
  const [first, second] = await publishEach(workspace, id, [1, 2]);
  expect(await historyOf(workspace, id)).toEqual({ data: [], total_count: 0, next_cursor: null });
  const made = [
    await pointed(workspace, id, 'production', { version: 1, expected: null, note: 'The first one' }),
    await pointed(workspace, id, 'production', { version: 2, expected: first.digest }),
    await pointed(workspace, id, 'production', {
      ...{ version: 1, expected: second.digest, note: 'Back again' },
      split: { version: 2, percent: 5 },
    }),
  ];
  await pointed(workspace, id, 'staging', { version: 2, expected: null });
  const { data, total_count } = await historyOf(workspace, id);
  expect({ data, total_count }).toEqual({ data: made.toReversed(), total_count: 3 });
  expect(data).toMatchObject([
    { channel: 'production', version: 1, note: 'Back again', split: { version: 2, percent: 5 } },
    { version: 2, digest: second.digest, note: '', promoted_by: workspace.userId, approval_id: null },
    { version: 1, digest: first.digest, note: 'The first one', lifecycle_id: expect.any(String) },
  ]);
  expect(await historyOf(workspace, id, '', 'staging')).toMatchObject({ data: [{ version: 2 }], total_count: 1 });
  // Page by page, also when the channel moves on in between.
  const pages = [await historyOf(workspace, id, '?limit=1')];
  await pointed(workspace, id, 'production', { version: 2, expected: first.digest });
  while (pages.at(-1).next_cursor !== null)
    pages.push(await historyOf(workspace, id, `?limit=1&cursor=${pages.at(-1).next_cursor}`));
  expect(pages.flatMap((page) => page.data)).toEqual(made.toReversed());
  const stranger = await createWorkspace(deps);
  expect(await stranger.api.get(`/agentflow/${id}/channels/production/history`)).toMatchObject(
    refusal(404, 'not_found'),
  );
});

test('of 100 calls at once, the history has those that succeeded', async () => {
  verifies('release.history');
  const workspace = await createWorkspace(deps);
  const id = await create(workspace, returning(0));
  await publishEach(workspace, id, [1, 2, 3]);
  let expected: string | null = null;
  const succeeded: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const calls = Array.from({ length: 100 }, (_, n) =>
      point(workspace, id, 'production', { version: (n % 3) + 1, expected, note: `${round} ${n}` }),
    );
    const won = (await Promise.all(calls)).filter(({ status }) => status === 200);
    succeeded.push(...won.map(({ body }) => body.note));
    expected = (await historyOf(workspace, id)).data[0].digest;
  }
  const { data } = await historyOf(workspace, id, '?limit=200');
  expect(data.map(({ note }: { note: string }) => note).sort()).toEqual(succeeded.sort());
});

test('the history names the approval', async () => {
  verifies('release.history');
  const workspace = await createWorkspace(deps);
  const person = await personOf(deps, workspace);
  const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
  const id = await create(workspace, returning(0));
  await publishEach(workspace, id, [1]);
  const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['release.point'] };
  await person.put('/v1/policies', { policies: [{ policy_id: 'permit', effect: 'permit' }, ask] });
  const change = { version: 1, expected: null };
  const { approval_id } = (await point(workspace, id, 'production', change)).body;
  expect(await approver.post(`/v1/approvals/${approval_id}/approve`, {})).toMatchObject({ status: 200 });
  const { resume_token } = (await bearerClient(workspace.apiKey).get(`/v1/approvals/${approval_id}`)).body;
  const headers = { 'x-resume-token': resume_token };
  expect(await workspace.api.put(`/agentflow/${id}/channels/production`, change, headers)).toMatchObject({
    body: { approval_id },
  });
  expect((await historyOf(workspace, id)).data).toMatchObject([{ approval_id, promoted_by: workspace.userId }]);
});
