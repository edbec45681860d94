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
export const builtinRulesOf = ({ platform }: Catalog): readonly PolicyRule[] => [
  {
    policy_id: 'builtin.governed-mode',
    description: 'Clients do not write to the context graph of a project in governed mode.',
    effect: 'forbid',
    tools: ['save-context', 'catalog-ingest', 'knowledge.upload', 'remember', 'undo-merge'],
    when: 'context.mode == "governed"',
  },
  {
    policy_id: 'builtin.platform',
    description: 'Callers with the grant may change records of the platform, unless a rule says otherwise.',
    effect: 'permit',
    tools: [...platform],
  },
];

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
