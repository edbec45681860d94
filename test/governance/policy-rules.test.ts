import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { policyRoutes } from '../../src/surfaces/gateway/routes/policies.js';
import { addRule } from '../../src/governance/policy/one-rule.js';
import { PolicyRule } from '../../src/governance/policy/rule.js';
import { catalog } from '../../src/catalog.js';
import { newId } from '../../src/base/ids.js';
import { useDeps } from '../support/fixture.js';
import { colleagueOf as personBeside, createGatewayWorkspace } from '../support/gateway.js';
import { colleagueOf, principalOf } from '../support/governance/approvals.js';
import { serveRoutes, type RouteServer } from '../support/governance/gateway-server.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const otherProcess = useDeps();
let [api, elsewhere]: RouteServer[] = [];
beforeAll(async () => {
  [api, elsewhere] = await Promise.all(
    [deps, otherProcess].map((each) => serveRoutes(each, policyRoutes(catalog.names))),
  );
});
afterAll(() => Promise.all([api?.close(), elsewhere?.close()]));

const path = '/v1/policies/rules';
const one = { policy_id: 'no-models', effect: 'forbid', tools: ['save-model'], when: 'context.hour >= 0' };
const as = (caller: Parameters<RouteServer['as']>[0]) => api!.as(caller);
const idsOf = (body: { policies: { policy_id: string }[] }) => body.policies.map(({ policy_id }) => policy_id);

describe('one rule', () => {
  test('is added, changed and deleted without touching the others, each time as a new version', async () => {
    verifies('policy.rules.one-by-one');
    const owner = principalOf();
    await as(owner).put('/v1/policies', { policies: [{ policy_id: 'kept', effect: 'permit' }] });
    const added = await as(owner).post(path, one);
    expect(added).toMatchObject({ status: 201, body: { version: 2, policies: [{ policy_id: 'kept' }, one] } });
    expect(added.headers.get('etag')).toBe('"2"');
    const changed = await as(owner).patch(`${path}/no-models`, { description: 'Not at all.', when: null });
    expect(changed).toMatchObject({ status: 200, body: { version: 3, created_by: owner.userId } });
    const { when: _when, ...rest } = one;
    expect(changed.body.policies[1]).toEqual({ ...rest, description: 'Not at all.' });
    const deleted = await as(owner).delete(`${path}/no-models`);
    expect(deleted).toMatchObject({ status: 200, body: { version: 4 } });
    expect(idsOf(deleted.body)).toEqual(['kept']);
    expect((await as(owner).get('/v1/policies/versions')).body).toMatchObject({ total_count: 4 });
  });

  test('is added to the default rules, and adding the same rule again changes nothing', async () => {
    verifies('policy.rules.one-by-one');
    const owner = principalOf();
    const first = await as(owner).post(path, one);
    expect(idsOf(first.body)).toEqual(['permit-everything', 'no-models']);
    expect(await as(owner).post(path, one)).toMatchObject({ status: 201, body: { version: 1 } });
    expect(await as(owner).post(path, { ...one, effect: 'permit' })).toMatchObject({
      status: 409,
      body: { error_description: expect.stringContaining('PATCH /v1/policies/rules/no-models') },
    });
    expect((await as(owner).get('/v1/policies')).body).toEqual(first.body);
  });

  test.each(['unknown', 'builtin.platform', 'Bad Id'])('that does not exist is answered 404: %s', async (id) => {
    verifies('policy.rules.one-by-one');
    const owner = principalOf();
    const other = principalOf();
    await as(other).post(path, { ...one, policy_id: 'unknown' });
    expect(await as(owner).patch(`${path}/${encodeURIComponent(id)}`, {})).toMatchObject({ status: 404 });
    expect(await as(owner).delete(`${path}/${encodeURIComponent(id)}`)).toMatchObject({ status: 404 });
    expect((await as(owner).get('/v1/policies')).body.version).toBe(0);
  });

  test('is refused with 409 if the policies are at another version than the caller read', async () => {
    verifies('policy.rules.compare-and-set');
    const owner = principalOf();
    await as(owner).post(path, one);
    await as(owner).post(path, { ...one, policy_id: 'second' });
    const refused = { status: 409, body: { error_description: 'the policies are at version 2: read them again' } };
    const third = { ...one, policy_id: 'third' };
    for (const stale of [
      as(owner).post(path, { ...third, expected_version: 1 }),
      as(owner).post(path, third, { 'if-match': '"1"' }),
      as(owner).patch(`${path}/second`, { effect: 'permit', expected_version: 1 }),
      as(owner).patch(`${path}/second`, { effect: 'permit' }, { 'if-match': '"1"' }),
      as(owner).delete(`${path}/second?expected_version=1`),
      as(owner).delete(`${path}/second`, { 'if-match': '"1"' }),
    ])
      expect(await stale).toMatchObject(refused);
    expect(await as(owner).post(path, third, { 'if-match': '"2"' })).toMatchObject({ status: 201 });
    expect(await as(owner).patch(`${path}/third`, { effect: 'permit', expected_version: 3 })).toMatchObject({
      status: 200,
    });
    expect(await as(owner).delete(`${path}/third?expected_version=4`)).toMatchObject({ status: 200 });
  });

  test('survives what others add, change and delete at the same time in several processes', async () => {
    verifies('policy.rules.concurrent');
    const owner = principalOf();
    const kinds = ['added', 'changed', 'deleted'] as const;
    const before = kinds.slice(1).flatMap((kind) => Array.from({ length: 5 }, (_, at) => `${kind}-${at}`));
    await as(owner).put('/v1/policies', { policies: before.map((policy_id) => ({ ...one, policy_id })) });
    const calls = [...Array.from({ length: 20 }, (_, at) => `added-${at}`), ...before].map((policy_id, at) => {
      const client = (at % 2 ? api! : elsewhere!).as(owner);
      if (policy_id.startsWith('added')) return client.post(path, { ...one, policy_id });
      return policy_id.startsWith('changed')
        ? client.patch(`${path}/${policy_id}`, { description: policy_id })
        : client.delete(`${path}/${policy_id}`);
    });
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses).toEqual([...Array(20).fill(201), ...Array(10).fill(200)]);
    const { version, policies } = (await as(owner).get('/v1/policies')).body;
    expect(version).toBe(31);
    expect(idsOf({ policies }).filter((id) => id.startsWith('added'))).toHaveLength(20);
    expect(policies.filter((rule: PolicyRule) => rule.description === rule.policy_id)).toHaveLength(5);
    expect(idsOf({ policies }).filter((id) => id.startsWith('deleted'))).toEqual([]);
  });

  test('of a project admin concerns only the own project', async () => {
    verifies('policy.rules.same-checks');
    const owner = principalOf();
    const admin = colleagueOf(owner, 'PROJECT_ADMIN');
    await as(owner).post(path, one);
    const own = { ...one, policy_id: 'own', projects: [admin.projectId] };
    expect(await as(admin).post(path, own)).toMatchObject({ status: 201 });
    expect(await as(admin).patch(`${path}/own`, { effect: 'permit' })).toMatchObject({ status: 200 });
    for (const refused of [
      as(admin).post(path, { ...one, policy_id: 'broad' }),
      as(admin).post(path, { ...own, policy_id: 'two', projects: [admin.projectId, newId()] }),
      as(admin).patch(`${path}/own`, { projects: null }),
      as(admin).patch(`${path}/no-models`, { effect: 'permit' }),
      as(admin).delete(`${path}/no-models`),
    ])
      expect(await refused).toMatchObject({ status: 403, body: { error: 'S2:resolve-scope' } });
    expect(await as(admin).delete(`${path}/own`)).toMatchObject({ status: 200 });
    for (const refused of [
      as(colleagueOf(owner, 'MEMBER')).post(path, own),
      as(colleagueOf(owner, 'MEMBER')).patch(`${path}/no-models`, {}),
      as(colleagueOf(owner, 'MEMBER')).delete(`${path}/no-models`),
    ])
      expect(await refused).toMatchObject({ status: 403 });
  });

  test.each<[string, object]>([
    ['an unknown operation', { tools: ['save-contxt'] }],
    ['an unknown attribute', { when: 'context.mood == "x"' }],
    ['a field of approvals', { approvers: 2 }],
    ['a reserved id', { policy_id: 'builtin.mine' }],
    ['an unknown field', { colour: 'red' }],
  ])('with %s is refused as PUT refuses it', async (_what, fields) => {
    verifies('policy.rules.same-checks');
    const owner = principalOf();
    const rule = { policy_id: 'bad', effect: 'forbid', ...fields };
    const byPut = await as(owner).put('/v1/policies', { policies: [rule] });
    const byPost = await as(owner).post(path, rule);
    expect(byPost.status).toBe(byPut.status);
    expect(byPut.body.error_description.replace('policies.0.', '').replace('policies.0: ', 'body: ')).toContain(
      byPost.body.error_description.split(':')[0],
    );
    expect((await as(owner).get('/v1/policies')).body.version).toBe(0);
  });

  test('is refused if the set would become too large to be sent as a whole', async () => {
    verifies('policy.rules.same-checks');
    const owner = principalOf();
    const rules = Array.from({ length: 200 }, (_, at) => ({ policy_id: `rule-${at}`, effect: 'permit' }));
    await as(owner).put('/v1/policies', { policies: rules });
    expect(await as(owner).post(path, one)).toMatchObject({
      status: 422,
      body: { error_description: expect.stringContaining('at most 200 rules') },
    });
    const long = PolicyRule.parse({ policy_id: 'long', effect: 'permit', tools: Array(200).fill('x'.repeat(100)) });
    const many = Array.from({ length: 45 }, (_, at) => ({ ...long, policy_id: `long-${at}` }));
    expect(() => addRule(long)(many)).toThrow('at most 900000 bytes');
  });
});

describe('a rule about changes of the policies', () => {
  test('covers the changes of one rule, and cannot lock an owner out', async () => {
    verifies('policy.rules.same-checks', 'policy.own-rules');
    const workspace = await createGatewayWorkspace(deps);
    const { gateway } = workspace;
    const never = { policy_id: 'never', effect: 'forbid', tools: ['policies.replace'] };
    expect(await gateway.post(path, never)).toMatchObject({ status: 201 });
    const owner = await personBeside(deps, workspace, { role: 'OWNER' });
    for (const refused of [
      gateway.post(path, one),
      gateway.patch(`${path}/never`, { effect: 'permit' }),
      gateway.delete(`${path}/never`),
    ])
      expect(await refused).toMatchObject({ status: 403, body: { error: 'S5:policy' } });
    expect(await owner.patch(`${path}/never`, { when: 'context.input.operation == "delete"' })).toMatchObject({
      status: 200,
    });
    expect(await gateway.post(path, one)).toMatchObject({ status: 201 });
    expect(await gateway.delete(`${path}/no-models`)).toMatchObject({ status: 403 });
    expect(await owner.delete(`${path}/never`)).toMatchObject({ status: 200 });
  });

  test('holds the change of one rule for a person who sees it, and the approval is valid only for this change', async () => {
    verifies('policy.rules.approval');
    const workspace = await createGatewayWorkspace(deps);
    const { gateway } = workspace;
    const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['policies.replace'] };
    await gateway.post(path, ask);
    const held = await gateway.delete(`${path}/ask`);
    expect(held).toMatchObject({ status: 202 });
    const decider = await personBeside(deps, workspace, { role: 'OWNER' });
    const approval = `/v1/approvals/${held.body.approval_id}`;
    expect((await decider.get(approval)).body.payload).toMatchObject({
      input: { operation: 'delete', policy_id: 'ask' },
      about: { present: ask },
    });
    expect(await decider.post(`${approval}/approve`, {})).toMatchObject({ status: 200 });
    const { resume_token: token } = (await gateway.get(approval)).body;
    const resume = { 'x-resume-token': token };
    expect((await gateway.patch(`${path}/ask`, {}, resume)).status).toBeGreaterThanOrEqual(400);
    expect(await gateway.delete(`${path}/ask`, resume)).toMatchObject({ status: 200 });
  });

  test('appears in the audit chain with the id of the rule, and a repeated key adds it once', async () => {
    verifies('policy.rules.audit');
    const { gateway } = await createGatewayWorkspace(deps);
    const key = { 'idempotency-key': newId() };
    const [first, second] = [await gateway.post(path, one, key), await gateway.post(path, one, key)];
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
    await gateway.patch(`${path}/no-models`, { effect: 'permit' });
    await gateway.delete(`${path}/no-models`);
    const { data } = (await gateway.get('/v1/audit?action=policies.replace')).body;
    expect(data.map(({ resource, outcome }: any) => [resource.id ?? resource, outcome])).toEqual(
      Array(3).fill([expect.stringContaining('no-models'), 'completed']),
    );
  });
});
