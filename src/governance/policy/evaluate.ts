import type { PolicyJson, StatefulAuthorizationCall } from '@cedar-policy/cedar-wasm/nodejs';
import type { Principal } from '../../auth/principal.js';
import { newId } from '../../ids.js';
import { cedar } from './cedar.js';
import { compileRules } from './compile.js';
import { decisionOf, type PolicyEvaluation } from './decision.js';
import { builtinRules } from './default-rules.js';
import { factsOf } from './governed-tools.js';
import type { PolicyRule } from './rule.js';

export interface PolicyRequest {
  principal: Pick<Principal, 'userId' | 'role' | 'kind' | 'grants' | 'organizationId' | 'projectId'>;
  tool: string;
  resource: { type: string; id: string };
  mode: 'simple' | 'governed';
  dryRun: boolean;
  /** The validated input, which the tool's facts are read from. */
  input: unknown;
  at: Date;
}

/** One version of an organization's rules, ready to be asked. */
export interface CompiledSet {
  id: string;
  version: number;
  rules: ReadonlyMap<string, PolicyRule>;
  policies: Record<string, PolicyJson>;
}

export interface PolicyEngine {
  evaluate(set: CompiledSet, request: PolicyRequest): PolicyEvaluation;
}

/** @throws Error for rules that do not compile: what is stored was validated before */
export function compileSet(version: number, stored: readonly PolicyRule[]): CompiledSet {
  const all = [...stored, ...builtinRules];
  const { policies, problems } = compileRules(all);
  if (problems.length > 0) throw new Error(`policies of version ${version} do not compile: ${JSON.stringify(problems)}`);
  return { id: newId(), version, rules: new Map(all.map((rule) => [rule.policy_id, rule])), policies };
}

const maxPreparsedSets = 256;
const maxRemembered = 5000;
/** Calls with long inputs are not remembered, so that memory stays bounded. */
const longestKey = 4000;

/**
 * Evaluates by Cedar over preparsed sets. The engine never forgets a name, so sets take turns in a fixed number of
 * them. The decision depends on nothing but set and call, so that repeats are remembered.
 */
export function createPolicyEngine(): PolicyEngine {
  // Names are the whole process's, engines are not.
  const own = newId();
  const names = new Map<CompiledSet, string>();
  const remembered = new Map<string, PolicyEvaluation>();

  const nameOf = (set: CompiledSet): string => {
    const known = names.get(set);
    const name = known ?? (names.size < maxPreparsedSets ? `${own}-${names.size}` : takeOldest(names));
    names.delete(set);
    names.set(set, name);
    if (known === undefined) preparse(name, set);
    return name;
  };
  return {
    evaluate(set, request) {
      const call = cedarCall(request);
      const key = set.id + JSON.stringify(call);
      const before = remembered.get(key);
      if (before) return before;
      const answer = cedar.statefulIsAuthorized({ ...call, preparsedPolicySetId: nameOf(set) });
      const decision = decisionOf(answer, set.rules, set.version);
      if (remembered.size >= maxRemembered) remembered.clear();
      if (key.length <= longestKey) remembered.set(key, decision);
      return decision;
    },
  };
}

function takeOldest(names: Map<CompiledSet, string>): string {
  const [set, name] = names.entries().next().value as [CompiledSet, string];
  names.delete(set);
  return name;
}

function preparse(name: string, set: CompiledSet): void {
  const answer = cedar.preparsePolicySet(name, { staticPolicies: set.policies });
  if (answer.type === 'failure') throw new Error(`the policy engine refused a set: ${answer.errors.map(({ message }) => message).join('; ')}`);
}

function cedarCall({ principal, tool, resource, mode, dryRun, input, at }: PolicyRequest): Omit<StatefulAuthorizationCall, 'preparsedPolicySetId'> {
  const user = { type: 'User', id: principal.userId };
  const target = { type: 'Resource', id: `${resource.type}/${resource.id}` };
  const { userId: user_id, role, kind, grants, projectId: project_id } = principal;
  return {
    principal: user,
    action: { type: 'Action', id: tool },
    resource: target,
    context: {
      project_id,
      mode,
      dry_run: dryRun,
      hour: at.getUTCHours(),
      weekday: at.getUTCDay() || 7,
      input: factsOf(tool, input),
    },
    entities: [
      { uid: user, attrs: { user_id, role, kind, grants: [...grants] }, parents: [] },
      { uid: target, attrs: { type: resource.type, id: resource.id }, parents: [] },
    ],
  };
}
