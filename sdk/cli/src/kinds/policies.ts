import { plainOf, type Kind, type Remote, type Wanted } from '../kind.js';
import { none, type Json, type Shape } from '../shape.js';

const shape: Shape = {
  fields: {
    policy_id: none,
    description: '',
    effect: none,
    tools: none,
    projects: none,
    when: none,
    approvers: none,
    approval_ttl_seconds: none,
    starter_may_decide: none,
    approver_roles: none,
  },
};

/** The rules of the organization. All are replaced at once, so that no half of a change is ever in force. */
export const policies: Kind = {
  folder: 'policies',
  noun: 'policy',
  schema: 'PolicyRule',
  shape,
  required: ['policy_id'],
  references: [],
  isOneSet: true,
  nameOf: ({ policy_id }) => String(policy_id),
  list: async (client) => remotesOf(await client.call('get', '/v1/policies')),
  async change(client, saved, removed) {
    const present = await client.call('get', '/v1/policies');
    const based = [...saved.map(({ remote }) => remote), ...removed].find((remote) => remote !== undefined);
    // A new rule changes no other, so it is added to the present ones.
    const expected_version = (based?.expected as number | undefined) ?? present.version;
    const body = { policies: rulesAfter(present.policies, saved, removed), expected_version };
    const stored = remotesOf(await client.call('put', '/v1/policies', { body } as never));
    return saved.flatMap(({ content }) => stored.filter(({ id }) => id === content.policy_id));
  },
};

function rulesAfter(present: readonly unknown[], saved: readonly Wanted[], removed: readonly Remote[]): Json[] {
  const gone = new Set(removed.map(({ id }) => id));
  const changed = new Map(saved.flatMap(({ remote, content }) => (remote ? [[remote.id, content] as const] : [])));
  const kept = (present as Json[])
    .filter(({ policy_id }) => !gone.has(String(policy_id)))
    .map((rule) => changed.get(String(rule.policy_id)) ?? rule);
  return [...kept, ...saved.filter(({ remote }) => !remote).map(({ content }) => content)];
}

function remotesOf(set: { version: number; policies: readonly unknown[] }): Remote[] {
  return (set.policies as Json[]).map((answer) => ({
    id: String(answer.policy_id),
    content: plainOf(policies, answer),
    answer,
    expected: set.version,
  }));
}
