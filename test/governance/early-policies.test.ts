import { expect, test } from '@jest/globals';
import { newId } from '../../src/ids.js';
import { useDeps } from '../support/fixture.js';
import { colleagueOf, principalOf } from '../support/governance/approvals.js';
import { kernelCall } from '../support/governance/kernel-call.js';

const [deps, other] = [useDeps(), useDeps()];
const forbidding = [
  { policy_id: 'all', description: '', effect: 'permit' as const },
  { policy_id: 'never', description: '', effect: 'forbid' as const, tools: ['save-model'] },
];
const run = async () => ({ body: {} });

test('policies that are read while the credential is checked include what another process stored before the call', async () => {
  const principal = principalOf();
  const call = () => ({ ...kernelCall({ principal, run }), likelyOrganizationId: principal.organizationId });
  expect(await deps.kernel.perform(call())).toMatchObject({ ending: { status: 'completed' } });
  await other.governance.policies.replace(colleagueOf(principal), forbidding);
  expect(await deps.kernel.perform(call())).toMatchObject({ error: { code: 'policy_denied' }, stage: 'S5:policy' });
});

test('a wrong guess of the organization has no effect on the decision', async () => {
  const [principal, guessed] = [principalOf(), principalOf()];
  await deps.governance.policies.replace(colleagueOf(principal), forbidding);
  for (const likelyOrganizationId of [guessed.organizationId, newId()])
    expect(await deps.kernel.perform({ ...kernelCall({ principal, run }), likelyOrganizationId })).toMatchObject({
      error: { code: 'policy_denied' },
    });
});
