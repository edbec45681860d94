import type { DetailedError, Expr, PolicyJson, SchemaJson } from '@cedar-policy/cedar-wasm/nodejs';
import { cedar } from './cedar.js';
import { cedarSchemaOf, contextWith } from './cedar-schema.js';
import { operationsWithOwnRules, type Catalog } from '../operations/catalog.js';
import { commonRoles, noRole } from './decision.js';
import { maxInteger } from '../operations/operation.js';
import type { PolicyRule } from './rule.js';

export interface RuleProblem {
  policy_id: string;
  problem: string;
}

interface CompiledRules {
  /** Cedar policies by rule id. */
  policies: Record<string, PolicyJson>;
  problems: RuleProblem[];
}

const maxLevels = 50;
const ofApprovals = ['approvers', 'approval_ttl_seconds', 'starter_may_decide', 'approver_roles'] as const;

/** Compiles rules to Cedar policies. `problemsOf` validates them, before they are stored. */
export function compileRules(catalog: Catalog, rules: readonly PolicyRule[]): CompiledRules {
  const problems: RuleProblem[] = [];
  const policies: Record<string, PolicyJson> = {};
  for (const rule of rules) {
    const condition = parseCondition(rule.when);
    if (typeof condition === 'string') problems.push({ policy_id: rule.policy_id, problem: condition });
    else policies[rule.policy_id] = toPolicy(catalog, rule, condition);
  }
  return { policies, problems };
}

/**
 * All problems that prevent rules from being stored: syntax, unknown operations and attributes, wrong types, no effect.
 */
export function problemsOf(catalog: Catalog, rules: readonly PolicyRule[]): RuleProblem[] {
  const { policies, problems } = compileRules(catalog, rules);
  const seen = new Set<string>();
  for (const rule of rules) {
    const { policy_id, effect, tools } = rule;
    const note = (problem: string) => problems.push({ policy_id, problem });
    if (seen.has(policy_id)) note('the policy_id is used twice');
    seen.add(policy_id);
    for (const tool of tools ?? []) if (!catalog.find(tool)) note(`${tool} is not an operation`);
    if (hasRoundedInteger(policies[policy_id]?.conditions))
      note(`integers must be from -${maxInteger} to ${maxInteger}`);
    if (effect === 'require_approval') continue;
    for (const field of ofApprovals) if (rule[field] !== undefined) note(`${field} belongs to require_approval`);
  }
  const held = rules.filter((rule) => rule.effect === 'require_approval' && names(catalog, rule, 'policies.replace'));
  if (commonRoles(held)?.length === 0)
    problems.push({ policy_id: held.at(-1)?.policy_id ?? '', problem: `policies.replace: ${noRole}` });
  const undecidable = held.length > 0 && rules.find((rule) => forbidsAllDecisions(catalog, rule));
  if (undecidable)
    problems.push({
      policy_id: undecidable.policy_id,
      problem: 'nobody could approve a change of the policies: add a condition',
    });
  return problems.length > 0 ? problems : schemaProblems(catalog, policies);
}

/**
 * Compiles a rule that requires approval to a permit. Forbids take precedence over it in Cedar, and `decisionOf` finds
 * it among the permits that apply.
 */
function toPolicy(catalog: Catalog, rule: PolicyRule, condition: Expr | undefined): PolicyJson {
  const projects = rule.projects?.map((project) => ({ Value: project }));
  const inProjects: Expr | undefined = projects && {
    contains: { left: { Set: projects }, right: { '.': { left: { Var: 'context' }, attr: 'project_id' } } },
  };
  const named =
    rule.tools &&
    withoutAliases(
      catalog,
      rule.tools.map((id) => ({ type: 'Action', id })),
    );
  const exempt =
    rule.effect === 'forbid' && names(catalog, rule, 'policies.replace')
      ? (parseCondition(ownerChangesPolicies) as Expr)
      : undefined;
  const conditions = [inProjects, condition && withoutAliases(catalog, condition)].filter((body) => body !== undefined);
  return {
    effect: rule.effect === 'forbid' ? 'forbid' : 'permit',
    principal: { op: 'All' },
    action: named ? { op: 'in', entities: named } : { op: 'All' },
    resource: { op: 'All' },
    conditions: [
      ...(named ? [] : [{ kind: 'unless' as const, body: changesOwnRules }]),
      ...(exempt ? [{ kind: 'unless' as const, body: exempt }] : []),
      ...conditions.map((body) => ({ kind: 'when' as const, body })),
    ],
    annotations: { effect: rule.effect },
  };
}

const changesOwnRules: Expr = {
  in: {
    left: { Var: 'action' },
    right: { Set: operationsWithOwnRules.map((id) => ({ Value: { __entity: { type: 'Action', id } } })) },
  },
};

/** Replaces aliases of tools by operation names, because calls are evaluated under the operation name. */
function withoutAliases<T>(catalog: Catalog, tree: T): T {
  if (Array.isArray(tree)) return tree.map((each: unknown) => withoutAliases(catalog, each)) as T;
  if (typeof tree !== 'object' || tree === null) return tree;
  const fields = tree as Record<string, unknown>;
  if (fields.type === 'Action' && typeof fields.id === 'string')
    return { ...tree, id: catalog.find(fields.id)?.name ?? fields.id };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withoutAliases(catalog, value)])) as T;
}

function forbidsAllDecisions(catalog: Catalog, rule: PolicyRule): boolean {
  const { effect, when, projects } = rule;
  return effect === 'forbid' && when === undefined && projects === undefined && names(catalog, rule, 'approval.decide');
}

type WithOwnRules = (typeof operationsWithOwnRules)[number];

function names(catalog: Catalog, { tools = [] }: PolicyRule, operation: WithOwnRules): boolean {
  return tools.some((tool) => catalog.find(tool)?.name === operation);
}

/** No rule forbids this, so that the policies can always be changed (decision 0019). */
const ownerChangesPolicies =
  'action == Action::"policies.replace" && principal.role == "OWNER" && principal.client_id == "" && ["user_jwt", "session"].contains(principal.kind)';

/**
 * Returns the expression, undefined if there is none, or a text that describes the problem. Only the parsed tree is
 * used further, so that the text cannot break out of its clause.
 */
function parseCondition(when: string | undefined): Expr | undefined | string {
  if (when === undefined) return undefined;
  if (countLevels(when) > maxLevels) return `the condition has more than ${maxLevels} brackets`;
  const parsed = cedar().policyToJson(`${beforeCondition}${when}\n};`);
  if (parsed.type === 'failure')
    return parsed.errors.map((error) => `${explain(error)}${lineOf(error, when)}`).join('; ');
  const [clause, ...others] = parsed.json.conditions;
  if (clause?.kind !== 'when' || others.length > 0) return 'the condition must be one expression';
  return clause.body;
}

const beforeCondition = 'permit(principal, action, resource) when {\n';

/** Where a condition has a syntax error, such as ` (line 2)`. Cedar counts bytes of the whole policy. */
function lineOf({ sourceLocations }: DetailedError, when: string): string {
  const start = sourceLocations?.[0]?.start;
  if (start === undefined) return '';
  const before = Buffer.from(when).subarray(0, Math.max(0, start - beforeCondition.length));
  return ` (line ${before.toString().split('\n').length})`;
}

/**
 * Counts everything that opens a level. The recursion of Cedar's parser has no limit: from about 100 levels, it overflows
 * the stack and breaks the engine for the whole process. Closing brackets are not subtracted, because they can be part of
 * a string.
 */
function countLevels(when: string): number {
  return when.match(/[([{]|\bif\b/g)?.length ?? 0;
}

/** Whether an integer was too large for JavaScript. The policy would compare with another one. */
function hasRoundedInteger(tree: unknown): boolean {
  if (typeof tree === 'number' || typeof tree === 'bigint') return !Number.isSafeInteger(tree);
  return typeof tree === 'object' && tree !== null && Object.values(tree).some(hasRoundedInteger);
}

/** In the order of the rules. Cedar reports the problems of a rule in a random order. */
function schemaProblems(catalog: Catalog, policies: Record<string, PolicyJson>): RuleProblem[] {
  const found = validate(cedarSchemaOf(catalog), policies);
  return Object.keys(policies).flatMap((policy_id) => {
    const problems = found.filter((each) => each.policy_id === policy_id).map(({ problem }) => problem);
    return withoutRepetition(catalog, problems.sort()).map((problem) => ({ policy_id, problem }));
  });
}

const unknownAttribute = /^attribute `([^`]+)` in context for Action::"([^"]+)" not found(.*)$/s;

/** Cedar reports an unknown attribute for each operation. Returns one problem for each attribute, with what is available. */
function withoutRepetition(catalog: Catalog, problems: readonly string[]): string[] {
  const texts = new Map<string, string>();
  for (const problem of problems) {
    const [, attribute, operation = '', hint = ''] = unknownAttribute.exec(problem) ?? [];
    const text = attribute === undefined ? problem : describeUnknown(catalog, attribute, operation, hint);
    if (!texts.has(attribute ?? problem)) texts.set(attribute ?? problem, text);
  }
  return [...texts.values()];
}

function describeUnknown(catalog: Catalog, attribute: string, operation: string, hint: string): string {
  const name = /^input\.([^.]+)$/.exec(attribute)?.[1];
  if (name === undefined)
    return `attribute \`${attribute}\` in context not found${hint} context has ${Object.keys(contextWith({}).attributes).join(', ')}`;
  const having = catalog.operations.filter(({ facts }) => Object.hasOwn(facts, name));
  const available =
    having.length > 0
      ? `name operations that have it in tools: ${having.map((each) => each.name).join(', ')}`
      : `its input has ${Object.keys(catalog.find(operation)?.facts ?? {}).join(', ') || 'no attributes'}`;
  return `attribute \`${attribute}\` in context not found for ${operation}: ${available}`.slice(0, 400);
}

/** Treats warnings as problems: they report rules that can never apply and strings that look like other strings. */
function validate(schema: SchemaJson<string>, policies: Record<string, PolicyJson>): RuleProblem[] {
  const [policy_id = '', ...others] = Object.keys(policies);
  const validateEach = () => Object.entries(policies).flatMap(([id, policy]) => validate(schema, { [id]: policy }));
  try {
    const answer = cedar().validate({ schema, policies: { staticPolicies: policies } });
    if (answer.type === 'success')
      return [...answer.validationErrors, ...answer.validationWarnings].map(({ policyId, error }) => ({
        policy_id: policyId,
        problem: explain(error),
      }));
    return others.length > 0 ? validateEach() : answer.errors.map((error) => ({ policy_id, problem: explain(error) }));
  } catch (error) {
    // The engine throws if the tree of a policy exceeds a fixed depth.
    if (!String(error).includes('recursion limit')) throw error;
    return others.length > 0 ? validateEach() : [{ policy_id, problem: 'the condition is too long' }];
  }
}

function explain({ message, help, sourceLocations }: DetailedError): string {
  const labels = (sourceLocations ?? []).map(({ label }) => label).filter((label) => label !== null);
  const text = [message.replace(/^(failed to parse policy from string: |for policy `[^`]*`, )/, ''), ...labels, help];
  return text
    .filter((part) => part !== null && part !== '')
    .join(', ')
    .slice(0, 400);
}
