import { expect, test } from '@jest/globals';
import { createWorkspace, personOf, useDeps } from '../support/fixture.js';
import { refusal } from '../support/refusal.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();

test('each version of the policies has the reason of its change', async () => {
  verifies('policies.reason');
  const api = await personOf(deps, await createWorkspace(deps));
  const rule = { policy_id: 'ask', effect: 'require_approval', tools: ['save-model'] };
  const all = { policy_id: 'all', effect: 'permit' };
  const put = await api.put('/v1/policies', { policies: [all], reason: 'A first set' });
  expect(put).toMatchObject({ status: 200, body: { version: 1, reason: 'A first set' } });
  await api.post('/v1/policies/rules', { ...rule, reason: ' Models are expensive ' });
  await api.patch('/v1/policies/rules/ask', { approvers: 2 });
  await api.delete('/v1/policies/rules/ask?reason=No%20longer%20needed');
  const { data } = (await api.get('/v1/policies/versions')).body;
  expect(data.map(({ reason }: any) => reason)).toEqual([
    'No longer needed',
    null,
    'Models are expensive',
    'A first set',
  ]);
  expect((await api.get('/v1/policies/versions/2')).body).toMatchObject({ reason: 'Models are expensive' });
  expect((await api.get('/v1/policies')).body).toMatchObject({ version: 4, reason: 'No longer needed' });
  // The reason is not a part of the rule.
  expect((await api.get('/v1/policies/versions/2')).body.policies[1]).not.toHaveProperty('reason');
  expect(await api.put('/v1/policies', { policies: [all], reason: 'x'.repeat(501) })).toMatchObject(
    refusal(400, 'invalid_request', 'reason'),
  );
});

test('a syntax error in a condition names its line', async () => {
  verifies('policies.error-line');
  const api = await personOf(deps, await createWorkspace(deps));
  const add = (when: string) => api.post('/v1/policies/rules', { policy_id: 'ask', effect: 'forbid', when });
  expect(await add('true &&\nprincipal.role ==\n&& false')).toMatchObject(
    refusal(422, 'validation_failed', '(line 3)'),
  );
  expect(await add('principal.role == "ÄÖÜ€" &&& true')).toMatchObject(refusal(422, 'validation_failed', '(line 1)'));
});
