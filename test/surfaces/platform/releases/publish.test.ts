import { expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { publish as publishAs } from '../../../../src/domain/releases/operations/publish.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { agentThatCalls } from '../../../support/flows.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';
import { create, edit, pointed, publish, publishEach, returning } from './releases.js';

const deps = useDeps();

test('a release keeps its content and digest, and the same content has the same digest', async () => {
  verifies('release.publish');
  const workspace = await createWorkspace(deps);
  const { api, userId } = workspace;
  const id = await create(workspace, { ...returning(1), description: 'first' });
  const first = await publish(workspace, id, { note: 'The first one' });
  expect(first).toMatchObject({
    ...{ agentflow_id: id, version: 1, base: null, note: 'The first one', published_by: userId, external_id: null },
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  await edit(workspace, id, { description: 'second' });
  const second = await publish(workspace, id);
  expect(second).toMatchObject({ version: 2, base: first.digest });
  expect(second.digest).not.toBe(first.digest);
  // What does not decide what a run does is not part of a release.
  await edit(workspace, id, { description: 'first', concurrency: { limit: 3 } });
  expect(await publish(workspace, id)).toMatchObject({ version: 3, digest: first.digest });
  expect((await api.get(`/agentflow/${id}/versions/1`)).body).toMatchObject({
    ...first,
    agentflow: { description: 'first' },
  });
  const { body } = await api.get(`/agentflow/${id}/versions`);
  expect(body.data.map(({ version }: { version: number }) => version)).toEqual([3, 2, 1]);
  const stranger = await createWorkspace(deps);
  expect(await stranger.api.post(`/agentflow/${id}/versions`, {})).toMatchObject(refusal(404, 'not_found'));
});

test('the id of a caller names one content, also if it is published many times at once', async () => {
  verifies('release.external-id');
  const workspace = await createWorkspace(deps);
  const { api } = workspace;
  const id = await create(workspace, returning(1));
  const path = `/agentflow/${id}/versions`;
  const build = { external_id: 'build-1' };
  const answers = await Promise.all(Array.from({ length: 8 }, () => api.post(path, build)));
  expect(answers.map(({ status, body }) => [status, body.version])).toEqual(answers.map(() => [200, 1]));
  await edit(workspace, id, { steps: returning(2).steps });
  expect(await api.post(path, build)).toMatchObject(refusal(409, 'conflict', 'release 1 has this id'));
  const [{ body: first }] = answers as [(typeof answers)[number]];
  const second = await publish(workspace, id, { base: first.digest });
  expect(await api.post(path, { base: first.digest })).toMatchObject(refusal(409, 'conflict', second.digest));
  expect(await api.post(path, { base: second.digest })).toMatchObject({ status: 200, body: { version: 3 } });
});

test('an agentflow is not published while something that it refers to is missing', async () => {
  verifies('release.complete');
  const workspace = await createWorkspace(deps);
  const { api } = workspace;
  const agent = agentThatCalls(['/orders']);
  const withConnector = (connector_id: string) => ({
    name: 'Orders',
    agents: [{ ...agent, skills: agent.skills.map((skill) => ({ ...skill, connector_id })) }],
  });
  const unknown = await create(workspace, withConnector(newId()));
  expect(await api.post(`/agentflow/${unknown}/versions`, {})).toMatchObject(
    refusal(422, 'validation_failed', 'does not exist in the project'),
  );
  const empty = await create(workspace, { name: 'Empty' });
  expect(await api.post(`/agentflow/${empty}/promote`, {})).toMatchObject(
    refusal(422, 'validation_failed', 'no agents'),
  );
  const part = await create(workspace, returning('part'));
  const whole = await create(workspace, {
    name: 'Whole',
    initialAgent: 'call',
    steps: [{ _id: 'call', type: 'flow', agentflow_id: part }],
  });
  expect(await api.post(`/agentflow/${whole}/versions`, {})).toMatchObject(
    refusal(422, 'validation_failed', `promote it first with POST /agentflow/${part}/promote`),
  );
  const [release] = await publishEach(workspace, part, ['part']);
  expect(await api.post(`/agentflow/${whole}/versions`, {})).toMatchObject(refusal(422, 'validation_failed'));
  await pointed(workspace, part, 'production', { version: 1, expected: null });
  expect(await publish(workspace, whole)).toMatchObject({
    flows: [{ step_id: 'call', agentflow_id: part, version: 1, digest: release.digest }],
  });
});

test('a publication that a process did not finish before it died is completed by its repeat', async () => {
  verifies('release.publish');
  const workspace = await createWorkspace(deps);
  const { collections } = deps.mongo;
  const id = await create(workspace, returning(1));
  const saved = async () => {
    const found = await collections.agentflows.findOne({ _id: id });
    if (!found) throw new Error('the agentflow is missing');
    return found;
  };
  const publication = { by: workspace.userId, note: '', request: newId() };
  const first = await publishAs(collections, await saved(), publication);
  // The process died between the release and the note of it, and then somebody edited the agentflow.
  await collections.agentflows.updateOne({ _id: id }, { $unset: { latest_version: '' } });
  await edit(workspace, id, { steps: returning(2).steps });
  expect(await publishAs(collections, await saved(), publication)).toMatchObject({ version: 1, digest: first.digest });
  expect(await saved()).toMatchObject({ latest_version: 1 });
  await collections.agentflows.updateOne({ _id: id }, { $unset: { latest_version: '' } });
  expect(await publish(workspace, id)).toMatchObject({ version: 2, base: first.digest });
});
