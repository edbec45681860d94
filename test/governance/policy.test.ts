import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Principal } from '../../src/auth/principal.js';
import { policyRoutes } from '../../src/surfaces/gateway/routes/policies.js';
import { compileSet, createPolicyEngine, type PolicyRequest } from '../../src/governance/policy/evaluate.js';
import { PolicyRule } from '../../src/governance/policy/rule.js';
import { catalog } from '../../src/catalog.js';
import { newId } from '../../src/base/ids.js';
import { useDeps } from '../support/fixture.js';
import { colleagueOf, principalOf } from '../support/governance/approvals.js';
import { serveRoutes, type RouteServer } from '../support/governance/gateway-server.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const otherProcess = useDeps();
const { policies } = deps.governance;
const { policies: elsewhere } = otherProcess.governance;
let api: RouteServer;
beforeAll(async () => {
  api = await serveRoutes(deps, policyRoutes(catalog.names));
});
afterAll(() => api.close());

/** Two times at which calls are decided separately, whatever the rules read. */
const hours = [new Date('2026-03-04T10:30:00Z'), new Date('2026-03-04T11:30:00Z')];
const permitAll = { policy_id: 'all', effect: 'permit' } as const;

type Fields = Partial<Omit<PolicyRequest, 'operation'>> & { tool?: string };

function request(principal: Principal, { tool = 'query-context', ...fields }: Fields = {}): PolicyRequest {
  return {
    principal,
    operation: catalog.named(tool),
    resource: { type: 'project', id: principal.projectId },
    mode: 'simple',
    dryRun: false,
    input: {},
    at: new Date('2026-03-04T10:30:00Z'),
    ...fields,
  };
}

async function store(principal: Principal, rules: object[]) {
  return policies.replace(
    principal,
    rules.map((rule) => PolicyRule.parse(rule)),
  );
}

describe('policies in force', () => {
  test('permit every tool by default, except writes to the graph of a governed project', async () => {
    verifies('policy.permit-forbid', 'policy.decision-names-rules', 'pipeline.s5-policy');
    const owner = principalOf();
    const permitted = await policies.evaluate(request(owner, { tool: 'save-context' }));
    expect(permitted).toMatchObject({ decision: 'permit', policy_ids: ['permit-everything'], policy_version: 0 });
    const refused = await policies.evaluate(request(owner, { tool: 'save-context', mode: 'governed' }));
    expect(refused).toMatchObject({ decision: 'forbid', policy_ids: ['builtin.governed-mode'], policy_version: 0 });
    expect(await policies.evaluate(request(owner, { mode: 'governed' }))).toMatchObject({ decision: 'permit' });
  });

  test('never open the graph of a governed project', async () => {
    const owner = principalOf();
    await store(owner, [permitAll]);
    expect(await policies.evaluate(request(owner, { tool: 'save-context', mode: 'governed' }))).toMatchObject({
      decision: 'forbid',
    });
  });

  test('rank forbid over approval over permit, and forbid what nothing permits', async () => {
    verifies('policy.permit-forbid');
    const owner = principalOf();
    await store(owner, [
      { policy_id: 'allow', effect: 'permit', tools: ['query-context', 'docs', 'run-agent'] },
      {
        policy_id: 'ask',
        effect: 'require_approval',
        tools: ['query-context', 'run-agent', 'save-skill'],
        approvers: 2,
        approval_ttl_seconds: 600,
      },
      { policy_id: 'ask-longer', effect: 'require_approval', tools: ['run-agent'], approval_ttl_seconds: 900 },
      { policy_id: 'never', effect: 'forbid', tools: ['query-context'], description: 'Not now.' },
    ]);
    const decide = (tool: string) => policies.evaluate(request(owner, { tool }));
    expect(await decide('query-context')).toMatchObject({
      decision: 'forbid',
      policy_ids: ['never'],
      reason: 'Not now.',
      policy_version: 1,
    });
    expect(await decide('run-agent')).toMatchObject({
      decision: 'require_approval',
      policy_ids: ['ask', 'ask-longer'],
      approvers: 2,
      approval_ttl_seconds: 600,
    });
    expect(await decide('save-skill')).toMatchObject({ decision: 'require_approval', policy_ids: ['ask'] });
    expect(await decide('docs')).toMatchObject({ decision: 'permit', policy_ids: ['allow'] });
    expect(await decide('ontology')).toMatchObject({
      decision: 'forbid',
      policy_ids: [],
      reason: 'no policy permits this call',
    });
  });

  test.each<[string, string, Fields, Fields]>([
    ['the role', 'principal.role == "VIEWER"', { principal: principalOf('VIEWER') }, {}],
    ['the credential', 'principal.kind == "api_key"', { principal: principalOf('OWNER', { kind: 'api_key' }) }, {}],
    ['the person', 'principal == User::"eve"', { principal: principalOf('OWNER', { userId: 'eve' }) }, {}],
    ['a grant', '!principal.grants.contains("svc:model.write")', { principal: principalOf('VIEWER') }, {}],
    ['the tool', 'action == Action::"docs"', { tool: 'docs' }, {}],
    [
      'the resource',
      'resource.type == "agentflow" && resource.id like "prod-*"',
      { resource: { type: 'agentflow', id: 'prod-1' } },
      { resource: { type: 'agentflow', id: 'test-1' } },
    ],
    ['the mode', 'context.mode == "governed"', { mode: 'governed' }, {}],
    ['a dry run', 'context.dry_run', { dryRun: true }, {}],
    ['the hour', 'context.hour < 8 || context.hour >= 18', { at: new Date('2026-03-04T19:00:00Z') }, {}],
    ['the weekday', 'context.weekday > 5', { at: new Date('2026-03-08T10:00:00Z') }, {}],
    [
      'an input',
      'context.input has entities && context.input.entities > 2',
      { tool: 'save-context', input: { entities: [{}, {}, {}] } },
      { tool: 'save-context', input: { entities: [{}] } },
    ],
    [
      'a text input',
      'context.input has operation && context.input.operation == "cancel"',
      { tool: 'orchestrate', input: { operation: 'cancel' } },
      { tool: 'orchestrate', input: {} },
    ],
  ])('let a rule read %s', async (_name, when, caught, free) => {
    verifies('policy.permit-forbid');
    const owner = principalOf();
    await store(owner, [permitAll, { policy_id: 'test', effect: 'forbid', when }]);
    const here = ({ principal, ...fields }: Fields) =>
      request({ ...owner, ...principal, organizationId: owner.organizationId }, fields);
    expect(await policies.evaluate(here(caught))).toMatchObject({ decision: 'forbid', policy_ids: ['test'] });
    expect(await policies.evaluate(here(free))).toMatchObject({ decision: 'permit', policy_ids: ['all'] });
  });

  test('limit a rule with projects to these projects, and never apply to another organization', async () => {
    const owner = principalOf();
    await store(owner, [permitAll, { policy_id: 'here', effect: 'forbid', projects: [owner.projectId] }]);
    expect(await policies.evaluate(request(owner))).toMatchObject({ decision: 'forbid' });
    expect(await policies.evaluate(request({ ...owner, projectId: newId() }))).toMatchObject({ decision: 'permit' });
    expect(await policies.evaluate(request(principalOf('OWNER', { projectId: owner.projectId })))).toMatchObject({
      decision: 'permit',
      policy_version: 0,
    });
  });

  test('apply a new version to the next call on another process', async () => {
    verifies('policy.decision-names-rules');
    const owner = principalOf();
    expect(await elsewhere.evaluate(request(owner))).toMatchObject({ decision: 'permit', policy_version: 0 });
    for (let version = 1; version <= 5; version += 1) {
      const effect = version % 2 === 1 ? 'forbid' : 'permit';
      await store(owner, [{ policy_id: 'rule', effect }]);
      expect(await elsewhere.evaluate(request(owner))).toMatchObject({ decision: effect, policy_version: version });
    }
    await store(owner, [permitAll]);
    await store(owner, [{ policy_id: 'last', effect: 'forbid' }]);
    expect(await elsewhere.evaluate(request(owner))).toMatchObject({ policy_ids: ['last'], policy_version: 7 });
  });

  test('stay separate in two engines of one process', () => {
    const engines = (['permit', 'forbid'] as const).map((effect) => ({
      effect,
      engine: createPolicyEngine(),
      set: compileSet(catalog, 1, [PolicyRule.parse({ policy_id: 'x', effect })]),
    }));
    for (const at of hours) {
      const asked = request(principalOf(), { at });
      for (const { effect, engine, set } of engines) expect(engine.evaluate(set, asked).decision).toBe(effect);
    }
  });

  test('stay correct for more organizations than the engine caches', () => {
    const engine = createPolicyEngine();
    const sets = Array.from({ length: 300 }, (_, at) =>
      compileSet(catalog, 1, [PolicyRule.parse({ policy_id: `of-${at}`, effect: 'permit' })]),
    );
    const owner = principalOf();
    for (const at of hours) {
      for (const [number, set] of sets.entries())
        expect(engine.evaluate(set, request(owner, { at })).policy_ids).toEqual([`of-${number}`]);
    }
  });

  test.each([
    'context.input.host == "a"',
    'context["input"]["host"] == "a"',
    'if context.dry_run then false else context.input.host == "a"',
    '[context.input.host].contains("a")',
    'context.input == {"host": "a"} || context.input.host == "a"',
    '{ Value: context.input.host } == { Value: "a" }',
    '{ ".": context.input.host } == { ".": "a" }',
    '(if context.dry_run then context else context).input.host == "a"',
    'resource.id == "a"',
    'resource is Resource && resource.id like "a*"',
    '[resource.id].contains("a")',
  ])('read what differs between two calls: %s', (when) => {
    const set = compileSet(catalog, 1, [
      PolicyRule.parse(permitAll),
      PolicyRule.parse({ policy_id: 'not-a', effect: 'forbid', tools: ['act.http'], when }),
    ]);
    const engine = createPolicyEngine();
    const owner = principalOf();
    const decided = ['a', 'b', 'a', 'b'].map((host) => {
      const resource = { type: 'act', id: host };
      return engine.evaluate(set, request(owner, { tool: 'act.http', input: { host }, resource })).decision;
    });
    expect(decided).toEqual(['forbid', 'permit', 'forbid', 'permit']);
  });
});

describe('PUT /v1/policies', () => {
  test('stores an immutable version that GET answers with its ETag', async () => {
    const owner = principalOf();
    const before = await api.as(owner).get('/v1/policies');
    expect(before).toMatchObject({
      status: 200,
      body: {
        version: 0,
        created_by: null,
        policies: [{ policy_id: 'permit-everything' }],
        builtin: [
          { policy_id: 'builtin.governed-mode' },
          { policy_id: 'builtin.governed-mode.memory' },
          { policy_id: 'builtin.governed-mode.ontology' },
          { effect: 'permit' },
          { effect: 'require_approval' },
        ],
      },
    });
    expect(before.headers.get('etag')).toBe('"0"');
    const put = await api.as(owner).put('/v1/policies', { policies: [permitAll] }, { 'if-match': '"0"' });
    expect(put).toMatchObject({ status: 200, body: { version: 1, created_by: owner.userId, policies: [permitAll] } });
    const repeated = await api.as(owner).put('/v1/policies', { policies: [permitAll] }, { 'if-match': '"0"' });
    expect(repeated).toMatchObject({ status: 200, body: put.body });
    await api.as(owner).put('/v1/policies', { policies: [{ ...permitAll, effect: 'forbid' }], expected_version: 1 });
    expect((await api.as(owner).get('/v1/policies')).body).toMatchObject({ version: 2 });
    expect((await api.as(owner).get('/v1/policies/versions')).body).toMatchObject({
      data: [{ version: 2, rules: 1 }, { version: 1 }],
      total_count: 2,
    });
    expect((await api.as(owner).get('/v1/policies/versions/1')).body).toEqual(put.body);
    expect(await api.as(owner).get('/v1/policies/versions/3')).toMatchObject({ status: 404 });
  });

  test('answers 409 if the version in force differs from the expected one', async () => {
    const owner = principalOf();
    await store(owner, [permitAll]);
    for (const [body, headers] of [
      [{ policies: [], expected_version: 0 }, {}],
      [{ policies: [], expected_version: 2 }, {}],
      [{ policies: [] }, { 'if-match': '"0"' }],
    ] as const) {
      expect(await api.as(owner).put('/v1/policies', body, headers)).toMatchObject({
        status: 409,
        body: { error: 'conflict' },
      });
    }
    expect(await api.as(owner).put('/v1/policies', { policies: [] }, { 'if-match': 'x' })).toMatchObject({
      status: 400,
    });
  });

  test('accepts one of many concurrent changes of one version', async () => {
    const owner = principalOf();
    const changes = Array.from({ length: 12 }, (_, at) =>
      (at % 2 ? policies : elsewhere).replace(owner, [PolicyRule.parse({ policy_id: `by-${at}`, effect: 'permit' })], {
        expectedVersion: 0,
      }),
    );
    const settled = await Promise.allSettled(changes);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const change of settled)
      if (change.status === 'rejected') expect(change.reason).toMatchObject({ code: 'conflict' });
    expect((await policies.read(owner)).version).toBe(1);
  });

  const deep = (open: string, close: string, levels: number) => open.repeat(levels) + 'true' + close.repeat(levels);
  test.each<[string, object, RegExp]>([
    ['syntax', { when: 'principal.role ==' }, /bad: unexpected token/],
    ['an attribute that does not exist', { when: 'context.mood == "x"' }, /bad: attribute `mood`.*did you mean `mode`/],
    [
      'an attribute that no operation has',
      { when: 'context.mood == "x" && context.input.colour == "red"' },
      /^bad: attribute `input.colour` in context not found for [\w.-]+: its input has [\w, ]+; bad: attribute `mood` [^;]+$/,
    ],
    [
      'an attribute that some operations have',
      { when: 'context.input.relationships > 1' },
      /^bad: attribute `input.relationships` in context not found for [\w.-]+: name operations that have it in tools: [\w., -]+$/,
    ],
    [
      'an integer that would be rounded',
      { tools: ['save-context'], when: 'context.input.entities > 9007199254740993' },
      /bad: integers must be from -9007199254740991 to 9007199254740991/,
    ],
    ['a type', { when: 'context.mode == 1' }, /bad: the types Long and String are not compatible/],
    ['a condition that is not true or false', { when: 'context.hour' }, /bad: unexpected type: expected Bool/],
    ['a kind of entity', { when: 'principal in Team::"x"' }, /bad: unrecognized entity type `Team`/],
    [
      'an input that the tool does not have',
      { tools: ['docs'], when: 'context.input.entities > 1' },
      /bad: attribute `input.entities`/,
    ],
    ['a condition that never holds', { when: 'false' }, /bad: policy is impossible/],
    ['a second clause', { when: 'true } unless { true' }, /bad: the condition must be one expression/],
    ['a second policy', { when: 'true }; permit(principal, action, resource) when { true' }, /bad: unexpected token/],
    [
      'an annotation',
      { when: 'true }; @id("x") permit(principal, action, resource) when { true' },
      /bad: unexpected token/,
    ],
    ['an empty condition', { when: '' }, /bad: `when` condition clause cannot be empty/],
    ['a tool that does not exist', { tools: ['save-contxt'] }, /bad: save-contxt is not an operation/],
    ['approvers of a forbid', { approvers: 2 }, /bad: approvers belongs to require_approval/],
    ['roles of a forbid', { approver_roles: ['OWNER'] }, /bad: approver_roles belongs to require_approval/],
    ['too many brackets', { when: deep('(', ')', 900) }, /bad: the condition has more than 50 brackets/],
    [
      'too many brackets next to closing ones in texts',
      { when: deep('"))))" == "" || (((((', ')))))', 60) },
      /bad: the condition has more than/,
    ],
    ['too many branches', { when: 'if true then true else '.repeat(60) + 'true' }, /bad: the condition has more than/],
    ['a chain too long', { when: 'context.dry_run' + ' && true'.repeat(200) }, /bad: the condition is too long/],
    ['the longest chain', { when: 'context.hour' + ' + 1'.repeat(480) + ' > 3' }, /bad: the condition is too long/],
    ['a tree too deep', { when: deep('!!!!(', ')', 49) }, /bad: the condition is too long/],
    ['an id used twice', { policy_id: 'all' }, /all: the policy_id is used twice/],
    ['a reserved id', { policy_id: 'builtin.mine' }, /builtin.mine: the prefix builtin\. is reserved/],
  ])('answers 422 for %s and names the rule, and the policies in force stay', async (_name, fields, message) => {
    verifies('policy.invalid-refused');
    const owner = principalOf();
    await store(owner, [permitAll]);
    const answer = await api
      .as(owner)
      .put('/v1/policies', { policies: [permitAll, { policy_id: 'bad', effect: 'forbid', ...fields }] });
    expect(answer).toMatchObject({
      status: 422,
      body: { error: 'validation_failed', error_description: expect.stringMatching(message) },
    });
    expect(await policies.evaluate(request(owner))).toMatchObject({ decision: 'permit', policy_version: 1 });
    expect(await policies.evaluate(request(owner, { resource: { type: 'again', id: newId() } }))).toMatchObject({
      decision: 'permit',
    });
  });

  test('answers 400 for an invalid rule', async () => {
    const owner = principalOf();
    for (const rule of [
      { policy_id: 'x' },
      { policy_id: 'X Y', effect: 'permit' },
      { policy_id: 'x', effect: 'allow' },
      { ...permitAll, surprise: 1 },
      { ...permitAll, when: 'x'.repeat(2001) },
    ]) {
      expect(await api.as(owner).put('/v1/policies', { policies: [rule] })).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      });
    }
  });

  test('answers 403 for other roles, and an administrator of a project can change only its rules', async () => {
    const owner = principalOf();
    const admin = colleagueOf(owner, 'PROJECT_ADMIN');
    const member = colleagueOf(owner, 'MEMBER');
    const foreign = { policy_id: 'foreign', effect: 'forbid', projects: [newId()] };
    const own = { policy_id: 'own', effect: 'require_approval', projects: [owner.projectId] };
    await store(owner, [permitAll, foreign]);
    const denied = { status: 403, body: { error: 'S2:resolve-scope' } };
    expect(await api.as(member).get('/v1/policies')).toMatchObject(denied);
    expect(await api.as(member).put('/v1/policies', { policies: [] })).toMatchObject(denied);
    expect(await api.as(member).post('/v1/policies/evaluate', { tool: 'docs' })).toMatchObject(denied);
    expect(await api.as(member).get('/v1/policies/versions')).toMatchObject(denied);
    const { policies: present } = (await api.as(admin).get('/v1/policies')).body;
    expect(await api.as(admin).put('/v1/policies', { policies: [...present, own] })).toMatchObject({
      status: 200,
      body: { version: 2 },
    });
    for (const reach of [
      [permitAll, own],
      [{ ...permitAll, effect: 'forbid' }, foreign],
      [...present, { ...own, projects: undefined }],
      [...present, { ...own, projects: [owner.projectId, newId()] }],
    ]) {
      expect(await api.as(admin).put('/v1/policies', { policies: reach })).toMatchObject(denied);
    }
    expect(await api.as(admin).put('/v1/policies', { policies: present })).toMatchObject({
      status: 200,
      body: { version: 3 },
    });
  });
});

describe('POST /v1/policies/evaluate', () => {
  test('reports the decision on a call without side effects', async () => {
    const owner = principalOf();
    await store(owner, [
      permitAll,
      { policy_id: 'agents-ask', effect: 'require_approval', when: 'principal.kind == "api_key"', approvers: 3 },
    ]);
    const trial = { tool: 'save-context', input: { entities: [] }, principal: { kind: 'api_key' } };
    expect(await api.as(owner).post('/v1/policies/evaluate', trial)).toMatchObject({
      status: 200,
      body: { decision: 'require_approval', policy_ids: ['agents-ask'], approvers: 3, policy_version: 1 },
    });
    expect(
      (await api.as(owner).post('/v1/policies/evaluate', { tool: 'save-context', mode: 'governed' })).body,
    ).toMatchObject({ decision: 'forbid' });
    expect((await api.as(owner).post('/v1/policies/evaluate', { tool: 'docs' })).body).toMatchObject({
      decision: 'permit',
    });
    expect(await api.as(owner).post('/v1/policies/evaluate', { tool: 'save-contxt' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    const { approvals, lifecycles } = deps.mongo.collections;
    expect(await approvals.countDocuments({ project_id: owner.projectId })).toBe(0);
    expect(await lifecycles.countDocuments({ tool: 'save-context', project_id: owner.projectId })).toBe(0);
  });
});
