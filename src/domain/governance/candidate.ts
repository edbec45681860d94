import type { z } from 'zod';
import { PolicyRule } from '../../governance/policy/rule.js';

export const CandidateRule = PolicyRule.optional().describe(
  'One rule to try in addition to those in force, or instead of the one with its `policy_id`.',
);

/** A refinement: a request contains a whole set, in the field `set`, or one rule. */
export function exactlyOneCandidate(set: string) {
  return (input: Readonly<Record<string, unknown>>, context: z.core.$RefinementCtx): void => {
    if ((input[set] === undefined) === (input.rule === undefined))
      context.addIssue({ code: 'custom', path: [set], message: `send either ${set} or rule` });
  };
}

/** The rules to try. */
export function candidateRules(
  present: readonly PolicyRule[],
  { rules, rule }: { rules?: PolicyRule[] | undefined; rule?: PolicyRule | undefined },
): PolicyRule[] {
  if (rules) return rules;
  if (!rule) return [...present];
  const at = present.findIndex(({ policy_id }) => policy_id === rule.policy_id);
  return at < 0 ? [...present, rule] : present.with(at, rule);
}
