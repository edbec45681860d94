import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Principal } from '../../src/auth/principal.js';
import { catalog } from '../../src/catalog.js';
import { policyRoutes } from '../../src/surfaces/gateway/routes/policies.js';
import type { PolicyFacts } from '../../src/governance/lifecycles/policy-facts.js';
import type { LifecycleDocument } from '../../src/governance/lifecycles/record.js';
import { derivedId, newId } from '../../src/base/ids.js';
import { useDeps } from '../support/fixture.js';
import { colleagueOf as personBeside, createGatewayWorkspace } from '../support/gateway.js';
import { colleagueOf, principalOf } from '../support/governance/approvals.js';
import { serveRoutes, type RouteServer } from '../support/governance/gateway-server.js';
import { recordsOf } from '../support/governance/records.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { lifecycles, policy_versions, projects } = deps.mongo.collections;
let server: RouteServer;
beforeAll(async () => {
  server = await serveRoutes(deps, policyRoutes(catalog.names));
});
afterAll(() => server.close());

const all = { policy_id: 'all', effect: 'permit' };
const path = '/v1/policies/simulate';
const at = Date.UTC(2026, 2, 4, 10) / 1000;
const nothing = { evaluated: 0, unchanged: 0, changed_count: 0, changed: [], transitions: [], skipped: [] };

const facts: PolicyFacts = {
  at,
  role: 'MEMBER',
  grants: 'svc:docs.read svc:query.read',
  channel: 'rest',
  mode: 'simple',
  dry_run: false,
  resource_type: 'docs',
  resource_id: 'query',
  input: { topic: 'query' },
};

type Fields = Omit<Partial<LifecycleDocument>, 'decision'> & { decision?: string };

/** Stores the record of a call by a key, as the kernel does. */
async function recorded(owner: Principal, { decision = 'permit', ...fields }: Fields = {}): Promise<string> {
  const { lifecycle } = recordsOf(owner, { tool: 'docs', facts, ...(fields as object) });
  await lifecycles.insertOne({ ...lifecycle, decision: { ...lifecycle.decision, decision } } as LifecycleDocument);
  return lifecycle._id;
}
const tried = (owner: Principal, body: object) => server.as(owner).post(path, { policies: [all], ...body });
const forbid = (when?: string, fields: object = {}) => ({
  policies: [all, { policy_id: 'no', effect: 'forbid', ...(when !== undefined && { when }), ...fields }],
});

describe('POST /v1/policies/simulate on calls of the product', () => {
  test('reports which calls would have been permitted, held or forbidden, and changes nothing', async () => {
    verifies('policy.simulate', 'policy.simulate.no-effect');
    const workspace = await createGatewayWorkspace(deps);
    const { gateway, organizationId, projectID } = workspace;
    const held = { policy_id: 'held', effect: 'require_approval', tools: ['save-model'] };
    expect(await gateway.put('/v1/policies', { policies: [all, held] })).toMatchObject({ status: 200 });
    const asked = await gateway.post('/v1/docs', { topic: 'query' });
    expect(asked.status).toBe(200);
    const saved = await gateway.post('/v1/save-model', { model: 'gpt-x' });
    expect(saved.status).toBe(202);
    const switched = await gateway.post('/v1/save-context', {
      source: 'x',
      entities: [{ id: 'a', type: 'Customer', name: 'Acme' }],
    });
    expect(switched.status).toBe(200);
    const before = await lifecycles.find({ organization_id: organizationId }).sort({ _id: 1 }).toArray();

    const policies = [
      all,
      { policy_id: 'not-docs', effect: 'forbid', tools: ['docs'], when: 'context.input.topic == "query"' },
      { policy_id: 'ask', effect: 'require_approval', tools: ['save-context'], when: 'context.input.entities > 0' },
    ];
    const { status, body } = await gateway.post(path, { policies });
    expect(status).toBe(200);
    const ids = [switched, saved, asked].map(({ headers }) => headers.get('x-lifecycle-id'));
    expect(body).toMatchObject({
      policy_version: 1,
      changed_count: 3,
      changed: [
        {
          lifecycle_id: ids[0],
          operation: 'save-context',
          candidate: { decision: 'require_approval', rules: ['ask'] },
        },
        {
          lifecycle_id: ids[1],
          operation: 'save-model',
          project_id: projectID,
          recorded: { decision: 'require_approval', rules: ['held'], policy_version: 1 },
          candidate: { decision: 'permit', rules: ['all'] },
        },
        {
          lifecycle_id: ids[2],
          recorded: { decision: 'permit' },
          candidate: { decision: 'forbid', rules: ['not-docs'] },
        },
      ],
    });
    expect(body.transitions).toHaveLength(3);
    // The last simulation stored nothing: the calls and the rules are unchanged.
    expect(await lifecycles.find({ organization_id: organizationId }).sort({ _id: 1 }).toArray()).toEqual(before);
    expect(await policy_versions.countDocuments({ organization_id: organizationId })).toBe(1);
  });

  test('finds the facts in the lifecycle of a call, without names, addresses and other texts that people write', async () => {
    verifies('policy.facts-recorded');
    const workspace = await createGatewayWorkspace(deps);
    const { gateway, organizationId, projectID } = workspace;
    const person = await personBeside(deps, workspace);
    const invited = { email: 'ada@example.com', role: 'MEMBER' };
    expect(await person.post(`/project-member/${projectID}`, invited)).toMatchObject({ status: 404 });
    await gateway.post('/v1/save-context', {
      source: 'mail from ada@example.com',
      entities: [{ id: 'a', type: 'Customer', name: 'Ada Lovelace' }],
    });
    const kept = await lifecycles.find({ organization_id: organizationId }).toArray();
    expect(kept.find(({ tool }) => tool === 'member.add')?.facts?.input).toEqual({
      user_id: '',
      role: 'MEMBER',
      roles: ['MEMBER'],
    });
    const save = kept.find(({ tool }) => tool === 'save-context');
    expect(save?.facts).toEqual({
      at: expect.any(Number),
      role: 'OWNER',
      grants: expect.stringContaining('svc:ontology.write'),
      channel: 'rest',
      mode: 'simple',
      dry_run: false,
      resource_type: expect.any(String),
      resource_id: expect.any(String),
      input: { entities: 1, relationships: 0, facts: 0, entity_types: ['Customer'] },
    });
    expect(JSON.stringify(kept)).not.toMatch(/ada@|Lovelace|svc_sk_/);
    const { body } = await gateway.get(`/v1/lifecycles/${save?._id}`);
    expect(body).not.toHaveProperty('facts');
    expect(
      await gateway.post(path, forbid('context.input.source like "mail*"', { tools: ['save-context'] })),
    ).toMatchObject({
      status: 200,
      body: { skipped: expect.arrayContaining([{ reason: 'facts_not_recorded', count: 1 }]) },
    });
  });

  test('never keeps a text that people write: each text fact is an id or one of a few words, or is marked as free text', () => {
    verifies('policy.facts-recorded');
    const written = catalog.operations.flatMap(({ name, facts: own }) =>
      Object.entries(own).flatMap(([fact, { isFreeText }]) => (isFreeText ? [`${name}.${fact}`] : [])),
    );
    const words =
      /^(.*_)?(id|type|status|step|operation|decision|role|roles|mode|topic|category|grants|entity_types|model|hosts?|recipient_domains|currency|method|language|started_by|channel|parent_agentflows)$/;
    const others = catalog.operations.flatMap(({ name, facts: own }) =>
      Object.entries(own).flatMap(([fact, { type, isFreeText }]) =>
        isFreeText || ['Long', 'Boolean', 'Decimal'].includes(type) || words.test(fact) ? [] : [`${name}.${fact}`],
      ),
    );
    expect(others).toEqual([]);
    expect(written).toEqual(
      expect.arrayContaining(['member.add.email', 'save-context.source', 'table.create.table_name']),
    );
  });
});

describe('POST /v1/policies/simulate', () => {
  test.each<[string, string]>([
    ['the role', 'principal.role == "MEMBER"'],
    ['the credential', 'principal.kind == "api_key"'],
    ['a grant', 'principal.grants.contains("svc:docs.read")'],
    ['the resource', 'resource.type == "docs" && resource.id == "query"'],
    ['the mode', 'context.mode == "simple"'],
    ['the channel', 'context.channel == "rest"'],
    ['the time of the call', 'context.hour == 10 && context.weekday == 3'],
    ['a dry run', '!context.dry_run'],
    ['an input', 'context.input has topic && context.input.topic == "query"'],
    ['the action', 'action == Action::"docs"'],
  ])('evaluates %s as it was recorded', async (_name, when) => {
    verifies('policy.simulate');
    const owner = principalOf();
    const id = await recorded(owner);
    expect(await tried(owner, forbid(when))).toMatchObject({
      status: 200,
      body: {
        evaluated: 1,
        changed: [{ lifecycle_id: id, at, candidate: { decision: 'forbid', rules: ['no'] } }],
        transitions: [{ from: 'permit', to: 'forbid', count: 1 }],
      },
    });
    expect((await tried(owner, forbid(`!(${when})`))).body).toMatchObject({ evaluated: 1, unchanged: 1, changed: [] });
  });

  test.each<[string, Fields, string]>([
    ['a mode that no rule read', { facts: without('mode') }, 'context.mode == "governed"'],
    ['a resource that was not kept', { facts: without('resource_id') }, 'resource.id like "x*"'],
    ['a fact that was not kept', { facts: { ...facts, input: {} } }, 'context.input has topic'],
    ['the fact through the whole input', { facts: { ...facts, input: {} } }, 'context has input && context.hour > 30'],
    [
      'a resource behind a branch',
      { facts: without('resource_id') },
      '(if context.project_id == "x" then resource else resource).id like "x*"',
    ],
  ])('does not guess %s', async (_name, fields, when) => {
    verifies('policy.simulate.never-guesses');
    const owner = principalOf();
    await recorded(owner, fields);
    const { status, body } = await tried(owner, forbid(when));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      policy_version: 0,
      ...nothing,
      skipped: [{ reason: 'facts_not_recorded', count: 1 }],
      summary: expect.arrayContaining(['0 of 1 docs call could be tried.']),
    });
    // A rule that reads none of it can be tried.
    expect((await tried(owner, forbid(undefined, { tools: ['docs'] }))).body).toMatchObject({ changed_count: 1 });
  });

  test('counts the calls without a decision and those of unknown operations', async () => {
    const owner = principalOf();
    await recorded(owner, { tool: 'gone' });
    const { lifecycle } = recordsOf(owner);
    const { decision: _decision, ...undecided } = lifecycle;
    await lifecycles.insertOne(undecided);
    const { body } = await tried(owner, {});
    expect(body).toMatchObject({
      policy_version: 0,
      ...nothing,
      skipped: expect.arrayContaining([
        { reason: 'not_decided', count: 1 },
        { reason: 'unknown_operation', count: 1 },
      ]),
    });
  });

  test('sees no call of another organization, and an administrator of a project only its own', async () => {
    verifies('policy.simulate.tenancy');
    const owner = principalOf();
    const elsewhere = { ...owner, projectId: newId() };
    const stranger = principalOf();
    await projects.insertOne({ _id: elsewhere.projectId, organization_id: owner.organizationId } as never);
    await recorded(owner);
    await recorded(elsewhere);
    const count = async (caller: Principal, body: object = {}) => (await tried(caller, body)).body.evaluated;
    expect(await count(owner)).toBe(2);
    expect(await count(owner, { project_id: elsewhere.projectId })).toBe(1);
    expect(await count(stranger)).toBe(0);
    const admin = colleagueOf(owner, 'PROJECT_ADMIN');
    expect(await count(admin)).toBe(1);
    const missing = { status: 404, body: { error: 'not_found' } };
    expect(await tried(admin, { project_id: elsewhere.projectId })).toMatchObject(missing);
    expect(await tried(stranger, { project_id: elsewhere.projectId })).toMatchObject(missing);
    expect(await tried(owner, { project_id: newId() })).toMatchObject(missing);
  });

  test('needs the authority to read the policies', async () => {
    verifies('policy.simulate.tenancy');
    const owner = principalOf();
    const denied = { status: 403, body: { error: 'S2:resolve-scope' } };
    expect(await tried(colleagueOf(owner, 'MEMBER'), {})).toMatchObject(denied);
    expect(await tried(colleagueOf(owner, 'VIEWER'), {})).toMatchObject({ status: 200 });
    expect(await tried(colleagueOf(owner, 'OWNER', { clientId: 'app' }), {})).toMatchObject(denied);
    const key = (...grants: Principal['grants']) => colleagueOf(owner, 'OWNER', { kind: 'api_key', grants });
    expect(await tried(key('svc:docs.read'), {})).toMatchObject(denied);
    expect(await tried(key('svc:governance.read'), {})).toMatchObject({ status: 200 });
    for (const role of ['ORG_ADMIN', 'PROJECT_ADMIN'])
      expect(await tried(colleagueOf(owner, role), {})).toMatchObject({ status: 200 });
  });

  test('looks at the last n calls, filtered by operation and time', async () => {
    const owner = principalOf();
    for (const second of [0, 1, 2, 3]) {
      const tool = second % 2 ? 'docs' : 'run-agent';
      await recorded(owner, { _id: derivedId(at + second, newId()), tool, facts: { ...facts, input: {} } });
    }
    const count = async (body: object) => (await tried(owner, body)).body.evaluated;
    expect(await count({})).toBe(4);
    expect(await count({ n: 3 })).toBe(3);
    expect(await count({ operation: 'docs' })).toBe(2);
    expect(await count({ operation: 'execution.start' })).toBe(2);
    expect(await count({ operation: 'run-agent', project_id: owner.projectId })).toBe(2);
    expect(await count({ since: at + 1 })).toBe(3);
    const refused = { status: 400, body: { error: 'invalid_request' } };
    for (const body of [{ n: 0 }, { n: 1001 }, { n: 1.5 }, { operation: 'gone' }, { since: -1 }, { more: 1 }])
      expect(await tried(owner, body)).toMatchObject(refused);
  });

  test('lists the newest changed calls and counts all', async () => {
    const owner = principalOf();
    const decisions = ['permit', 'forbid', 'require_approval'] as const;
    const documents = Array.from({ length: 240 }, (_, index) => {
      const { lifecycle } = recordsOf(owner, { _id: derivedId(at + index, newId()), tool: 'docs', facts });
      return { ...lifecycle, decision: { ...lifecycle.decision, decision: decisions[index % 3] } };
    });
    await lifecycles.insertMany(documents as LifecycleDocument[]);
    const { body } = await tried(owner, { n: 1000, policies: [{ ...all, effect: 'require_approval' }] });
    expect(body).toMatchObject({ evaluated: 240, unchanged: 80, changed_count: 160 });
    expect(body.changed).toHaveLength(100);
    expect(body.changed[0].lifecycle_id).toBe(documents[238]?._id);
    expect(body.transitions).toEqual(
      expect.arrayContaining([
        { from: 'permit', to: 'require_approval', count: 80 },
        { from: 'forbid', to: 'require_approval', count: 80 },
      ]),
    );
  });

  test.each<[string, object[]]>([
    ['syntax', [{ policy_id: 'bad', effect: 'permit', when: 'principal.role ==' }]],
    ['an unknown attribute', [{ policy_id: 'bad', effect: 'permit', tools: ['docs'], when: 'context.mood == "x"' }]],
    ['an unknown operation', [{ policy_id: 'bad', effect: 'permit', tools: ['gone'] }]],
    ['a reserved id', [{ policy_id: 'builtin.mine', effect: 'permit' }]],
    ['an id used twice', [all, all]],
    ['a chain too long', [{ ...all, when: 'context.dry_run' + ' && true'.repeat(200) }]],
    ['another effect', [{ policy_id: 'bad', effect: 'allow' }]],
    ['too many rules', Array.from({ length: 201 }, (_, index) => ({ ...all, policy_id: `r-${index}` }))],
  ])('refuses a candidate with %s as PUT /v1/policies does', async (_name, policies) => {
    verifies('policy.simulate.validates');
    const owner = principalOf();
    await recorded(owner);
    const put = await server.as(owner).put('/v1/policies', { policies });
    const answer = await tried(owner, { policies });
    expect([400, 422]).toContain(put.status);
    const { error, error_description } = put.body;
    expect(answer).toMatchObject({ status: put.status, body: { error, error_description } });
  });
});

function without(name: keyof PolicyFacts): PolicyFacts {
  return Object.fromEntries(Object.entries(facts).filter(([each]) => each !== name)) as unknown as PolicyFacts;
}

describe('what a simulation could not try', () => {
  test('is said for each operation and rule, with the facts that a rule lacks, and by one rule as by a whole set', async () => {
    verifies('policy.simulate.says-what-it-lacks');
    const owner = principalOf();
    await recorded(owner, { facts: { ...facts, input: {} } });
    await recorded(owner, { facts: { ...facts, input: {} } });
    await recorded(owner, { tool: 'save-model' });
    const rule = { policy_id: 'no', effect: 'forbid', tools: ['docs'], when: 'context.input.topic == "query"' };
    const { status, body } = await server.as(owner).post(path, { rule });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      evaluated: 1,
      changed_count: 0,
      summary: expect.arrayContaining([
        '1 of 3 recorded calls could be tried: 0 would be decided differently.',
        '0 of 2 docs calls could be tried.',
      ]),
    });
    expect(body.summary.join(' ')).toContain('context.input.topic');
    expect(body.rules.find(({ policy_id }: any) => policy_id === 'no')).toEqual({
      policy_id: 'no',
      change: 'added',
      calls: 2,
      tried: 0,
      changed: 0,
      not_tried: [{ reason: 'facts_not_recorded', count: 2 }],
      unrecorded_facts: ['context.input.topic'],
    });
    expect(await server.as(owner).post(path, {})).toMatchObject({ status: 400 });
    expect(await server.as(owner).post(path, { policies: [all], rule })).toMatchObject({ status: 400 });
  });
});

describe('POST /v1/policies/evaluate with edited rules', () => {
  test('decides by them, by written facts, and stores nothing', async () => {
    verifies('policy.evaluate.candidate');
    const owner = principalOf();
    const evaluate = (body: object) => server.as(owner).post('/v1/policies/evaluate', { tool: 'act.mail', ...body });
    const when = 'context.input.recipients.contains("a@example.com")';
    const rule = { policy_id: 'ask', effect: 'require_approval', tools: ['act.mail'], when };
    const to = (recipient: string) => ({ facts: { recipients: [recipient] } });
    expect(await evaluate({ ...to('a@example.com'), rule })).toMatchObject({
      status: 200,
      body: { decision: 'require_approval', policy_ids: ['ask'], facts: { recipients: ['a@example.com'] } },
    });
    expect((await evaluate({ ...to('b@example.com'), rule })).body).toMatchObject({ decision: 'permit' });
    expect((await evaluate({ ...to('a@example.com'), rules: [] })).body).toMatchObject({ decision: 'permit' });
    expect((await evaluate(to('a@example.com'))).body).toMatchObject({ decision: 'permit', policy_version: 0 });
    expect(await evaluate({ rule: { ...rule, when: 'context.mood' } })).toMatchObject({ status: 422 });
    expect(await evaluate({ facts: { colour: 'red' } })).toMatchObject({ status: 400 });
    expect(await evaluate({ facts: { recipients: 'a@example.com' } })).toMatchObject({ status: 400 });
    expect(await policy_versions.countDocuments({ organization_id: owner.organizationId })).toBe(0);
    const listed = (await server.as(owner).get('/v1/policies/operations')).body.data;
    expect(listed.find(({ name }: any) => name === 'act.mail').facts).toContainEqual({
      name: 'recipients',
      type: 'Set',
      is_recorded: false,
    });
  });
});
