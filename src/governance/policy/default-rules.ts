import type { PolicyRule } from './rule.js';

/** In force where an organization has stored no policies of its own. */
export const defaultRules: readonly PolicyRule[] = [
  { policy_id: 'permit-everything', description: 'Whoever has the grant may call the tool.', effect: 'permit' },
];

/** Promises of the specification that no stored policy can take back. Their ids cannot be used by stored rules. */
export const builtinRules: readonly PolicyRule[] = [
  {
    policy_id: 'builtin.governed-mode',
    description: 'The context graph of a project in governed mode is not written by clients.',
    effect: 'forbid',
    tools: ['save-context'],
    when: 'context.mode == "governed"',
  },
];

export const builtinPrefix = 'builtin.';
