import { describe, expect, test } from '@jest/globals';
import {
  agentflowProblems,
  changedAgent,
  changedAgentflow,
  newAgent,
  newAgentflow,
} from '../../../src/domain/agentflows/rules.js';
import * as examples from '../../../src/domain/agentflows/record/examples.js';
import * as agentflowSchemas from '../../../src/domain/agentflows/record.js';
import * as skillSchemas from '../../../src/domain/agentflows/record/skills.js';
import { ConnectorCategory } from '../../../src/domain/connectors/record.js';

const schemas = { ...agentflowSchemas, ...skillSchemas };

const maker = { projectId: 'project_1', organizationId: 'org_1', userId: 'user_1' };
const compose = (request: object) =>
  newAgentflow(schemas.NewAgentflow.parse({ name: 'Flow', ...request }), maker, 'flow_1', 100);
const problems = (request: object) => agentflowProblems(compose(request));
const agent = (_id: string, next_agent: string | null = null, more: object = {}) => ({
  _id,
  title: _id,
  next_agent,
  ...more,
});
const action = (_id: string, next_action_id: string | null = null, more: object = {}) => ({
  _id,
  name: _id,
  endpoint: 'https://example.com/',
  next_action_id,
  ...more,
});
const withActions = (actions: object[], more: object = {}) => ({
  agents: [agent('a', null, { skills: [{ _id: 's', name: 's', actions, ...more }] })],
});

describe('agentflowProblems', () => {
  test('returns none for a draft without agents, a chain, and agents without a predecessor', () => {
    expect(problems({})).toEqual([]);
    expect(problems({ agents: [agent('a', 'b'), agent('b', 'c'), agent('c'), agent('apart', 'b')] })).toEqual([]);
    expect(problems(withActions([action('x', 'y'), action('y', null, { previous_action_id: 'x' })]))).toEqual([]);
    expect(problems(withActions([action('x')], { initial_action_id: null }))).toEqual([]);
  });

  test.each([
    ['a missing initialAgent', { initialAgent: '', agents: [agent('a')] }, ['initialAgent: is required']],
    [
      'an initialAgent that names no agent',
      { initialAgent: 'z', agents: [agent('a')] },
      ['initialAgent: the agent "z" does not exist'],
    ],
    ['an initialAgent without agents', { initialAgent: 'z' }, ['initialAgent: the agent "z" does not exist']],
    [
      'a next_agent that names no agent',
      { agents: [agent('a', 'z')] },
      ['agents.a.next_agent: the agent "z" does not exist'],
    ],
    ['a next_agent that is empty', { agents: [agent('a', '')] }, ['agents.a.next_agent: the agent "" does not exist']],
    ['an agent that follows itself', { agents: [agent('a', 'a')] }, ['agents: next_agent forms a cycle: a → a']],
    [
      'a cycle after a chain',
      { agents: [agent('a', 'b'), agent('b', 'c'), agent('c', 'b')] },
      ['agents: next_agent forms a cycle: b → c → b'],
    ],
    [
      'an unreachable cycle',
      { agents: [agent('a'), agent('b', 'c'), agent('c', 'b')] },
      ['agents: next_agent forms a cycle: b → c → b'],
    ],
    ['an agent id twice', { agents: [agent('a'), agent('a'), agent('a')] }, ['agents: the _id "a" must be unique']],
    [
      'a skill id twice',
      {
        agents: [
          agent('a', null, {
            skills: [
              { _id: 's', name: 's' },
              { _id: 's', name: 't' },
            ],
          }),
        ],
      },
      ['agents.a.skills: the _id "s" must be unique'],
    ],
    [
      'an action id twice',
      withActions([action('x'), action('x')]),
      ['agents.a.skills.s.actions: the _id "x" must be unique'],
    ],
    [
      'an initial_action_id that names no action',
      withActions([action('x')], { initial_action_id: 'z' }),
      ['agents.a.skills.s.initial_action_id: the action "z" does not exist'],
    ],
    [
      'a next_action_id that names no action',
      withActions([action('x', 'z')]),
      ['agents.a.skills.s.actions.x.next_action_id: the action "z" does not exist'],
    ],
    [
      'a previous_action_id that names no action',
      withActions([action('x', null, { previous_action_id: 'z' })]),
      ['agents.a.skills.s.actions.x.previous_action_id: the action "z" does not exist'],
    ],
    [
      'a circle of actions',
      withActions([action('x', 'y'), action('y', 'x')]),
      ['agents.a.skills.s.actions: next_action_id forms a cycle: x → y → x'],
    ],
  ])('names %s', (_what, request, expected) => {
    expect(problems(request)).toEqual(expected);
  });

  test.each([
    ['path', {}, 'in: the endpoint must contain {{ f }}'],
    ['path', { endpoint: 'https://example.com/{% if f %}x{% endif %}' }, 'in: the endpoint must contain {{ f }}'],
    ['body', { method: 'GET' }, 'in: a GET has no body'],
    ['query', { category: 'mail' }, 'in: an action of the category mail has no places for fields'],
  ])('names a field that cannot be in the %s', (place, more, problem) => {
    const input_schema = { fields: [{ field_id: 'f', in: place }] };
    const connector = 'category' in more ? { connector_id: 'c' } : {};
    expect(problems(withActions([action('x', null, { ...more, input_schema })], connector))).toEqual([
      `agents.a.skills.s.actions.x.input_schema.fields.f.${problem}`,
    ]);
  });

  test.each(['Authorization', 'cookie', 'Content-Type', 'Idempotency-Key', 'Host', 'Content-Length', 'two words', ''])(
    'names the field %j that cannot be a header',
    (field_id) => {
      const input_schema = { fields: [{ field_id: field_id || 'ä', in: 'header' }] };
      expect(problems(withActions([action('x', null, { input_schema })]))).toMatchObject([
        expect.stringMatching(/\.in: .*header/),
      ]);
    },
  );

  test.each(['{{ goal', { a: ['{% if %}'] }])('names a value with an invalid template: %j', (value) => {
    const input_schema = { fields: [{ field_id: 'f', value }] };
    expect(problems(withActions([action('x', null, { input_schema })]))).toMatchObject([
      expect.stringContaining('fields.f.value: is not a valid Liquid template'),
    ]);
    expect(
      problems(
        withActions([
          action('x', null, { input_schema: { fields: [{ field_id: 'f', value: { a: ['{{ goal }}', 1, null] } }] } }),
        ]),
      ),
    ).toEqual([]);
  });

  test('names all problems at once, and each cycle once', () => {
    const found = problems({
      initialAgent: 'z',
      agents: [agent('a', 'b'), agent('b', 'a'), agent('c', 'c'), agent('d', 'nobody'), agent('e', 'a')],
    });
    expect(found).toEqual([
      'initialAgent: the agent "z" does not exist',
      'agents.d.next_agent: the agent "nobody" does not exist',
      'agents: next_agent forms a cycle: a → b → a',
      'agents: next_agent forms a cycle: c → c',
    ]);
  });

  test('looks up action ids only within their own skill', () => {
    const skills = [
      { _id: 's', name: 's', actions: [action('x', 'y')] },
      { _id: 't', name: 't', actions: [action('y'), action('x')] },
    ];
    expect(problems({ agents: [agent('a', null, { skills })] })).toEqual([
      'agents.a.skills.s.actions.x.next_action_id: the action "y" does not exist',
    ]);
  });

  test.each([
    '{{ goal',
    '{% if goal %}',
    '{{ goal | no_such_filter }}',
    "{% include 'other' %}",
    "{% render '/etc/passwd' %}",
  ])('names a template that does not parse: %s', (template) => {
    const prompt = { template, display_template: template };
    const found = problems({
      agents: [
        agent('a', null, {
          prompt,
          skills: [
            { _id: 's', name: 's', actions: [action('x', null, { endpoint: `https://example.com/${template}` })] },
          ],
        }),
      ],
    });
    expect(found).toEqual([
      expect.stringMatching(/^agents\.a\.prompt\.template: is not a valid Liquid template: /),
      expect.stringMatching(/^agents\.a\.prompt\.display_template: is not a valid Liquid template: /),
      expect.stringMatching(/^agents\.a\.skills\.s\.actions\.x\.endpoint: is not a valid Liquid template: /),
    ]);
  });

  test('accepts at most a thousand agents in one chain (decision 0032), and refuses what exceeds the store', () => {
    const chain = Array.from({ length: 1000 }, (_, at) => agent(`a${at}`, at < 999 ? `a${at + 1}` : null));
    expect(problems({ agents: chain })).toEqual([]);
    expect(schemas.NewAgentflow.safeParse({ name: 'Flow', agents: [...chain, agent('one more')] }).success).toBe(false);
    const large = Array.from({ length: 50 }, (_, at) =>
      agent(`a${at}`, null, { role_description: 'x'.repeat(100_000) }),
    );
    expect(problems({ agents: large })).toEqual([expect.stringContaining('must not exceed')]);
  });
});

describe('newAgentflow', () => {
  test('generates distinct missing ids, and points to the first of each list', () => {
    const { agents, initialAgent } = compose({
      agents: [
        { title: 'A', skills: [{ name: 'S', actions: [{ name: 'X', endpoint: 'https://example.com' }] }] },
        { title: 'B' },
      ],
    });
    const [first, second] = agents;
    const skill = first?.skills[0];
    const ids = [first?._id, second?._id, skill?._id, skill?.actions[0]?._id];
    expect(new Set(ids).size).toBe(4);
    expect(initialAgent).toBe(first?._id);
    expect(first?.next_agent).toBeNull();
    expect(skill?.initial_action_id).toBe(skill?.actions[0]?._id);
  });

  test('takes project, organization and user from the creator', () => {
    const made = compose({ projectID: 'other', ...withActions([action('x')]) });
    expect(made).toMatchObject({
      projectID: 'project_1',
      organization_id: 'org_1',
      agents: [{ skills: [{ projectID: 'project_1', user_id: 'user_1' }] }],
    });
  });

  test('marks whether an action ends its skill', () => {
    const made = compose(withActions([action('x', 'y'), action('y'), action('z', 'x', { is_terminal: true })]));
    expect(made.agents[0]?.skills[0]?.actions.map(({ is_terminal, sort }) => ({ is_terminal, sort }))).toEqual([
      { is_terminal: false, sort: 0 },
      { is_terminal: true, sort: 1 },
      { is_terminal: true, sort: 2 },
    ]);
  });
});

describe('changes', () => {
  test('of an agentflow keep omitted fields', () => {
    const base = compose({ description: 'kept', anomaly_detection: { instructions: 'kept' }, agents: [agent('a')] });
    expect(changedAgentflow(base, { name: 'New', anomaly_detection: { is_enabled: true } }, maker)).toEqual({
      ...base,
      name: 'New',
      anomaly_detection: { is_enabled: true, instructions: 'kept' },
    });
  });

  test('of an agent keep omitted fields, and null ends the flow', () => {
    const base = newAgent(
      { _id: 'a', title: 'A', next_agent: 'b', llm: { model: 'm' }, prompt: { template: 't' } },
      maker,
    );
    const changed = changedAgent(
      base,
      { next_agent: null, llm: { temperature: 1 }, prompt: { variables: ['v'] } },
      maker,
    );
    expect(changed).toEqual({
      ...base,
      next_agent: null,
      llm: { model: 'm', temperature: 1, max_tokens: null },
      prompt: { template: 't', variables: ['v'], display_template: '' },
    });
  });
});

describe('NewAction', () => {
  test.each([
    'https://example.com',
    'http://127.0.0.1:8080/a?b={{ c }}',
    'https://example.com/{{ a }}/{% if b %}x{% endif %}',
  ])('accepts the endpoint %s', (endpoint) => {
    expect(schemas.NewAction.safeParse({ name: 'x', endpoint }).success).toBe(true);
  });

  test.each([
    '',
    'example.com',
    'ftp://example.com/',
    'https://',
    'https://{{ host }}/',
    '{{ url }}',
    'javascript:alert(1)',
    'https://exa mple.com/',
  ])('refuses the endpoint %j', (endpoint) => {
    expect(schemas.NewAction.safeParse({ name: 'x', endpoint }).error?.issues).toMatchObject([{ path: ['endpoint'] }]);
  });

  test.each(ConnectorCategory.options)('accepts the category %s', (category) => {
    const endpoint = category === 'mcp' ? 'a_tool' : 'https://example.com/';
    expect(schemas.NewAction.safeParse({ name: 'x', category, endpoint }).success).toBe(true);
  });
});

test.each([
  [
    'agentflow',
    examples.exampleAgentflow,
    '_id name image description role projectID organization_id initialAgent isActive is_deleted is_cron_scheduled created_at updated_at last_used anomaly_detection marketplace_id parent_agentflow_id agentflow_type goal_structure conclusion failover_goal agents',
  ],
  [
    'agent',
    examples.exampleAgent,
    '_id title role role_description llm context has_knowledge_base prompt triggers is_preview_mode_enabled pre_and_post_execution_input skills agent_type next_agent',
  ],
  [
    'skill',
    examples.exampleSkill,
    '_id name projectID connector_id description logo connector_name is_deleted user_id actions initial_action_id',
  ],
  [
    'action',
    examples.exampleAction,
    '_id name endpoint sort category previous_action_id next_action_id is_terminal input_schema output_schema description',
  ],
  ['schema field', examples.exampleField, 'field_id label type required description'],
])('the example %s has every field of the specification', (_kind, example, fields) => {
  expect(Object.keys(example)).toEqual(expect.arrayContaining(fields.split(' ')));
});

test('the examples of the OpenAPI document fit their schemas and can run', () => {
  const { exampleField, exampleAction, exampleSkill, exampleAgent, exampleAgentflow, newAgentflowExample } = examples;
  expect(schemas.SchemaField.parse(exampleField)).toEqual(exampleField);
  expect(schemas.Action.parse(exampleAction)).toEqual(exampleAction);
  expect(schemas.Skill.parse(exampleSkill)).toEqual(exampleSkill);
  expect(schemas.Agent.parse(exampleAgent)).toEqual(exampleAgent);
  expect(schemas.Agentflow.parse(exampleAgentflow)).toEqual(exampleAgentflow);
  expect(schemas.NewAction.parse(exampleAction)).toEqual(exampleAction);
  expect(agentflowProblems(exampleAgentflow)).toEqual([]);
  expect(problems(newAgentflowExample)).toEqual([]);
});
