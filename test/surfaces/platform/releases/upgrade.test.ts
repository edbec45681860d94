import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { newId } from '../../../../src/base/ids.js';
import { publishWhatRuns } from '../../../../src/domain/releases/operations/upgrade.js';
import { createWorkspace, type Workspace } from '../../../support/fixture.js';
import { useOwnApp } from '../../../support/own-app.js';
import { refusal } from '../../../support/refusal.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';
import { create, edit, returning } from './releases.js';

// The upgrade reads all records of an installation, so this one has a database of its own.
const uri = new URL(testRun().env.MONGODB_URI ?? '');
uri.pathname = `/upgrade-${newId()}`;
const { deps, through } = useOwnApp({ MONGODB_URI: uri.href });

const scheduled = ({ projectID }: Workspace, coworker_id: string) =>
  deps.mongo.collections.schedules.insertOne({ _id: newId(), projectID, coworker_id, is_deleted: false } as never);

test('publishes promoted versions and what schedules run, once, and says so', async () => {
  verifies('release.upgrade');
  const workspace = through(await createWorkspace(deps));
  const { api, userId } = workspace;
  const { collections } = deps.mongo;
  const promoted = await create(workspace, returning('promoted'));
  const scheduledOnly = await create(workspace, returning('scheduled'));
  const both = await create(workspace, returning('promoted'));
  const broken = await create(workspace, { name: 'Empty' });
  for (const coworker_id of [scheduledOnly, both, broken]) await scheduled(workspace, coworker_id);
  // As the product stored them before there were releases.
  for (const id of [promoted, both]) {
    const agentflow = await collections.agentflows.findOne({ _id: id });
    const version = { version: 1, promoted_at: 1, promoted_by: userId, projectID: workspace.projectID, agentflow };
    await collections.agentflow_versions.insertOne({ _id: `${id}:1`, agentflow_id: id, ...version } as never);
    await collections.agentflows.updateOne({ _id: id }, { $set: { promoted_version: 1 } });
    await edit(workspace, id, { steps: returning('edited').steps });
  }
  const lines: any[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  await Promise.all([publishWhatRuns({ ...deps, log }), publishWhatRuns({ ...deps, log })]);
  const versionsOf = async (id: string) =>
    (await api.get(`/agentflow/${id}/versions`)).body.data.map(({ version, note }: any) => [version, note]);
  const note = 'Published by the upgrade to releases';
  expect(await versionsOf(promoted)).toEqual([[1, '']]);
  expect(await versionsOf(scheduledOnly)).toEqual([[1, note]]);
  expect(await versionsOf(both)).toEqual([
    [2, note],
    [1, ''],
  ]);
  expect(await versionsOf(broken)).toEqual([]);
  for (const id of [promoted, scheduledOnly, both]) {
    const started = await api.post('/execute_flow', { agentflow_id: id, goal: 'go' });
    expect(started).toMatchObject({ status: 201, body: { release: { version: 1, channel: 'production' } } });
  }
  const said = (id: string) => lines.filter(({ agentflow }) => agentflow === id).map(({ msg }) => msg);
  expect(said(scheduledOnly)).toContain('the upgrade has put this release into production');
  expect(said(both).some((text) => text.includes('now run its promoted release'))).toBe(true);
  expect(said(broken).some((text) => text.includes('could not be published'))).toBe(true);
  // Later starts of a process publish nothing.
  const late = await create(workspace, returning(newId()));
  await scheduled(workspace, late);
  await publishWhatRuns({ ...deps, log });
  expect(await versionsOf(late)).toEqual([]);
  expect(await api.post('/execute_flow', { agentflow_id: late, goal: 'go', version: 1 })).toMatchObject(
    refusal(404, 'not_found'),
  );
});
