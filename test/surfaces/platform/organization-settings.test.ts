import { expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import { createWorkspace, personOf, useDeps } from '../../support/fixture.js';
import { eventually } from '../../support/eventually.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const path = '/customer/settings';

test('an OWNER chooses what becomes of runs without a role, which is audited; nobody else does', async () => {
  verifies('organization.settings');
  const workspace = await createWorkspace(deps);
  const as = (role: string) => personOf(deps, workspace, { role, userId: newId() });
  const owner = await as('OWNER');
  expect(await owner.get(path)).toMatchObject({ status: 200, body: { runs_without_role: 'hold' } });
  for (const api of [workspace.api, await as('ORG_ADMIN'), await as('PROJECT_ADMIN'), await as('EDITOR')])
    expect(await api.patch(path, { runs_without_role: 'end' })).toMatchObject(refusal(403, 'access_denied', 'OWNER'));
  for (const body of [{ runs_without_role: 'kill' }, { number_of_members: 99 }])
    expect(await owner.patch(path, body)).toMatchObject(refusal(400, 'invalid_request'));
  expect(await owner.patch(path, { runs_without_role: 'end' })).toMatchObject({
    status: 200,
    body: { runs_without_role: 'end' },
  });
  expect(await owner.patch(path, {})).toMatchObject({ status: 200, body: { runs_without_role: 'end' } });
  const viewer = await as('VIEWER');
  expect(await viewer.get(path)).toMatchObject({ status: 200, body: { runs_without_role: 'end' } });
  expect(await (await as('MEMBER')).get(path)).toMatchObject(refusal(403, 'access_denied'));
  await eventually(async () => {
    const { body } = await owner.get('/v1/audit?limit=50');
    const changes = body.data.filter(({ action }: { action: string }) => action === 'organization.update-settings');
    expect(changes.map(({ outcome }: { outcome: string }) => outcome)).toContain('completed');
  });
  const other = await createWorkspace(deps);
  expect(await (await personOf(deps, other)).get(path)).toMatchObject({ body: { runs_without_role: 'hold' } });
});
