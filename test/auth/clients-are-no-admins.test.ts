import { describe, expect, test } from '@jest/globals';
import { isAdmin, seesWholeOrganization, type Principal } from '../../src/auth/principal.js';
import { newId } from '../../src/base/ids.js';
import { useDeps } from '../support/fixture.js';

const deps = useDeps();
const owner: Principal = {
  kind: 'user_jwt',
  userId: newId(),
  organizationId: newId(),
  departmentId: newId(),
  projectId: newId(),
  role: 'OWNER',
  grants: ['svc:query.read'],
};
const client: Principal = { ...owner, clientId: 'client-of-the-owner' };
const refused = { code: 'scope_denied' };

describe('an OAuth client of an OWNER', () => {
  test('has the scopes that were consented to and never the role', async () => {
    expect([isAdmin(owner), seesWholeOrganization(owner)]).toEqual([true, true]);
    expect([isAdmin(client), seesWholeOrganization(client)]).toEqual([false, false]);
    const { policies, approvals } = deps.governance;
    await expect(policies.replace(client, [])).rejects.toMatchObject(refused);
    await expect(policies.read(client)).rejects.toMatchObject(refused);
    await expect(approvals.decide(client, newId(), { decision: 'approve' })).rejects.toMatchObject(refused);
  });
});
