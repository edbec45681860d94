import type { DetailedError, Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { cedar } from './cedar.js';
import { cedarSchema } from './cedar-schema.js';
import { governedTools } from './governed-tools.js';
import type { PolicyRule } from './rule.js';

export interface RuleProblem {
  policy_id: string;
  problem: string;
}

export type Compiled = { ok: true; policies: Record<string, PolicyJson> } | { ok: false; problems: RuleProblem[] };

const maxNesting = 20;

/** Cedar policies by rule id, validated against the schema; or every problem that was found, by rule. */
export function compileRules(rules: readonly PolicyRule[]): Compiled {
  const problems: RuleProblem[] = [];
  const policies: Record<string, PolicyJson> = {};
  for (const rule of rules) {
    const note = (problem: string) => problems.push({ policy_id: rule.policy_id, problem });
    if (Object.hasOwn(policies, rule.policy_id)) note('the policy_id is used twice');
    for (const tool of rule.tools ?? []) if (!Object.hasOwn(governedTools, tool)) note(`there is no tool ${tool}`);
    if (rule.effect !== 'require_approval' && (rule.approvers ?? rule.approval_ttl_seconds) !== undefined) {
      note('approvers and approval_ttl_seconds belong to require_approval');
    }
    const condition = parseCondition(rule.when);
    if (typeof condition === 'string') note(condition);
    else policies[rule.policy_id] = toPolicy(rule, condition);
  }
  if (problems.length === 0) problems.push(...schemaProblems(policies));
  return problems.length === 0 ? { ok: true, policies } : { ok: false, problems };
}

/**
 * An approval is a permit on a condition: Cedar's forbids win over it, and our decision then sees it among the
 * permits that hold.
 */
function toPolicy(rule: PolicyRule, condition: Expr | undefined): PolicyJson {
  const projects = rule.projects?.map((project) => ({ Value: project }));
  const inProjects: Expr | undefined = projects && {
    contains: { left: { Set: projects }, right: { '.': { left: { Var: 'context' }, attr: 'project_id' } } },
  };
  return {
    effect: rule.effect === 'forbid' ? 'forbid' : 'permit',
    principal: { op: 'All' },
    action: rule.tools ? { op: 'in', entities: rule.tools.map((id) => ({ type: 'Action', id })) } : { op: 'All' },
    resource: { op: 'All' },
    conditions: [inProjects, condition].filter((body) => body !== undefined).map((body) => ({ kind: 'when', body })),
    annotations: { effect: rule.effect },
  };
}

/** The expression, nothing for none, or what is wrong with it. Only the parsed tree goes on, so that text cannot leave its clause. */
function parseCondition(when: string | undefined): Expr | undefined | string {
  if (when === undefined) return undefined;
  if (nestingOf(when) > maxNesting) return `the condition is nested deeper than ${maxNesting} levels`;
  const parsed = cedar.policyToJson(`permit(principal, action, resource) when {\n${when}\n};`);
  if (parsed.type === 'failure') return parsed.errors.map(explain).join('; ');
  const [clause, ...others] = parsed.json.conditions;
  if (clause?.kind !== 'when' || others.length > 0) return 'the condition must be one expression';
  return clause.body;
}

/**
 * Cedar's parser recurses without a bound, and at about 100 levels its overflow breaks the engine for the whole process.
 * Every bracket and `if` is counted, also in texts: too many is refused, never too few.
 */
function nestingOf(when: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of when.matchAll(/[([{]|[)\]}]|\bif\b/g)) {
    depth = ')]}'.includes(token) ? Math.max(0, depth - 1) : depth + 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function schemaProblems(policies: Record<string, PolicyJson>): RuleProblem[] {
  const ids = Object.keys(policies);
  return ids.flatMap((policy_id) => {
    const found = validate(policies[policy_id] as PolicyJson);
    return [...new Set(found)].map((problem) => ({ policy_id, problem }));
  });
}

/** Warnings count: they tell of rules that can never apply and of texts that look like other texts. */
function validate(policy: PolicyJson): string[] {
  try {
    const answer = cedar.validate({ schema: cedarSchema, policies: { staticPolicies: { rule: policy } } });
    if (answer.type === 'failure') return answer.errors.map(explain);
    return [...answer.validationErrors, ...answer.validationWarnings].map(({ error }) => explain(error));
  } catch (error) {
    // The engine reads a policy's tree up to a fixed depth and throws beyond it.
    if (String(error).includes('recursion limit')) return ['the condition is too long'];
    throw error;
  }
}

function explain({ message, help, sourceLocations }: DetailedError): string {
  const labels = (sourceLocations ?? []).map(({ label }) => label).filter((label) => label !== null);
  const text = [message.replace(/^(failed to parse policy from string: |for policy `rule`, )/, ''), ...labels, help];
  return text.filter((part) => part !== null && part !== '').join(', ').slice(0, 400);
}
