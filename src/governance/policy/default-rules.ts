import type { Catalog } from '../operations/catalog.js';
import type { PolicyRule } from './rule.js';

/** In force if an organization has not stored its own policies. */
export const defaultRules: readonly PolicyRule[] = [
  {
    policy_id: 'permit-everything',
    description: 'Callers with the grant may perform the operation.',
    effect: 'permit',
  },
];

/** Requirements of the specification that stored policies cannot override. Stored rules cannot use their ids. */
export const builtinRulesOf = ({ operations, platform }: Catalog): readonly PolicyRule[] => [
  ...governedModeRules(operations),
  {
    policy_id: 'builtin.platform',
    description: 'Callers with the grant may change records of the platform, unless a rule says otherwise.',
    effect: 'permit',
    tools: [...platform],
  },
];

const governedMode = {
  policy_id: 'builtin.governed-mode',
  description: 'Clients do not change the context graph of a project in governed mode.',
  effect: 'forbid',
  when: 'context.mode == "governed"',
} satisfies PolicyRule;

/** One rule for all operations that always change the context graph, and one for each that does so under a condition. */
function governedModeRules(operations: Catalog['operations']): PolicyRule[] {
  const byClients = operations.filter(({ changesContext, ofServices }) => changesContext && !ofServices);
  const sometimes = byClients.flatMap(({ name, changesContext }) =>
    typeof changesContext === 'object'
      ? [
          {
            ...governedMode,
            policy_id: `${governedMode.policy_id}.${name}`,
            tools: [name],
            when: `${governedMode.when} && ${changesContext.when}`,
          },
        ]
      : [],
  );
  const always = byClients.filter(({ changesContext }) => changesContext === true).map(({ name }) => name);
  return [{ ...governedMode, tools: always }, ...sometimes];
}

/** The rule under which an agent in preview mode asks a person before it acts. Its run stores the request. */
export const previewRule = {
  policy_id: 'builtin.preview',
  description: 'An agent in preview mode asks a person before it acts.',
  effect: 'require_approval' as const,
  tools: ['execution.preview'],
  approvers: 1,
  starter_may_decide: true,
} satisfies PolicyRule;

export const builtinPrefix = 'builtin.';
