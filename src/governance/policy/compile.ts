import type { DetailedError, Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { cedar } from './cedar.js';
import { cedarSchema } from './cedar-schema.js';
import { governedTools } from './governed-tools.js';
import type { PolicyRule } from './rule.js';

export interface RuleProblem {
  policy_id: string;
  problem: string;
}

export interface CompiledRules {
  /** Cedar policies by rule id. */
  policies: Record<string, PolicyJson>;
  problems: RuleProblem[];
}

const maxLevels = 50;

/** Reads the rules into Cedar policies. What was stored by an earlier release is taken as it is: see `problemsOf`. */
export function compileRules(rules: readonly PolicyRule[]): CompiledRules {
  const problems: RuleProblem[] = [];
  const policies: Record<string, PolicyJson> = {};
  for (const rule of rules) {
    const condition = parseCondition(rule.when);
    if (typeof condition === 'string') problems.push({ policy_id: rule.policy_id, problem: condition });
    else policies[rule.policy_id] = toPolicy(rule, condition);
  }
  return { policies, problems };
}

/** Everything that keeps rules from being stored, by rule: syntax, unknown tools and attributes, wrong types, no effect. */
export function problemsOf(rules: readonly PolicyRule[]): RuleProblem[] {
  const { policies, problems } = compileRules(rules);
  const seen = new Set<string>();
  for (const { policy_id, effect, tools, approvers, approval_ttl_seconds } of rules) {
    const note = (problem: string) => problems.push({ policy_id, problem });
    if (seen.has(policy_id)) note('the policy_id is used twice');
    seen.add(policy_id);
    for (const tool of tools ?? []) if (!Object.hasOwn(governedTools, tool)) note(`there is no tool ${tool}`);
    if (effect !== 'require_approval' && (approvers ?? approval_ttl_seconds) !== undefined) {
      note('approvers and approval_ttl_seconds belong to require_approval');
    }
  }
  return problems.length > 0 ? problems : schemaProblems(policies);
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
  if (levelsOpened(when) > maxLevels) return `the condition has more than ${maxLevels} brackets`;
  const parsed = cedar.policyToJson(`permit(principal, action, resource) when {\n${when}\n};`);
  if (parsed.type === 'failure') return parsed.errors.map(explain).join('; ');
  const [clause, ...others] = parsed.json.conditions;
  if (clause?.kind !== 'when' || others.length > 0) return 'the condition must be one expression';
  return clause.body;
}

/**
 * Cedar's parser recurses without a bound, and from about 100 levels on its overflow breaks the engine for the whole
 * process. So what opens a level is counted, wherever it stands: closing ones could stand in a text.
 */
function levelsOpened(when: string): number {
  return when.match(/[([{]|\bif\b/g)?.length ?? 0;
}

function schemaProblems(policies: Record<string, PolicyJson>): RuleProblem[] {
  return Object.entries(policies).flatMap(([policy_id, policy]) =>
    [...new Set(validate(policy))].map((problem) => ({ policy_id, problem })),
  );
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
