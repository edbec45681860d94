import type { PolicyJson, StatefulAuthorizationCall } from '@cedar-policy/cedar-wasm/nodejs';
import { LRUCache } from 'lru-cache';
import { rolesOf } from '../../auth/grants.js';
import type { Principal } from '../../auth/principal.js';
import { newId } from '../../base/ids.js';
import { cedar } from './cedar.js';
import { compileRules } from './compile.js';
import { decisionOf, type PolicyEvaluation } from './decision.js';
import { builtinRulesOf } from './default-rules.js';
import type { Channel } from '../kernel/entrances.js';
import type { Catalog } from '../operations/catalog.js';
import { factsOf, type FactValue, type Operation } from '../operations/operation.js';
import { attributesRead } from './reads.js';
import type { PolicyRule } from './rule.js';

export interface PolicyRequest {
  principal: Pick<
    Principal,
    'userId' | 'role' | 'roles' | 'kind' | 'grants' | 'organizationId' | 'projectId' | 'clientId'
  >;
  operation: Operation;
  /** How the call arrived; the default is `rest`. */
  channel?: Channel;
  resource: { type: string; id: string };
  mode: 'simple' | 'governed';
  dryRun: boolean;
  /** The validated input, from which the operation's facts are read. */
  input: unknown;
  /** The facts, if they are known already, for example from a lifecycle. They replace the input. */
  facts?: Readonly<Record<string, FactValue>>;
  at: Date;
}

/** One compiled version of an organization's rules. */
export interface CompiledSet {
  version: number;
  rules: ReadonlyMap<string, PolicyRule>;
  policies: Record<string, PolicyJson>;
  /** What the rules for an operation can read (`attributesRead`). */
  read(operation: string): ReadonlySet<string>;
}

/** @throws Error for rules that do not compile; stored rules were validated before */
export function compileSet(catalog: Catalog, version: number, stored: readonly PolicyRule[]): CompiledSet {
  const all = [...stored, ...builtinRulesOf(catalog)];
  const { policies, problems } = compileRules(catalog, all);
  if (problems.length > 0)
    throw new Error(`policies of version ${version} do not compile: ${JSON.stringify(problems)}`);
  const rules = new Map(all.map((rule) => [rule.policy_id, rule]));
  const known = new Map<string, ReadonlySet<string>>();
  const read = (operation: string) => {
    const found = known.get(operation) ?? attributesRead(policies, operation);
    known.set(operation, found);
    return found;
  };
  return { version, rules, policies, read };
}

const maxSets = 256;

/**
 * Evaluates calls with Cedar over preparsed sets. Cedar never frees the name of a set, so a fixed number of names is
 * reused.
 */
export function createPolicyEngine(max = maxSets) {
  // Set names are global in the process, but there can be several engines.
  const engineId = newId();
  let preparsedSets = 0;
  const names = new LRUCache<CompiledSet, string>({ max });

  const nameOf = (set: CompiledSet): string => {
    const known = names.get(set);
    if (known !== undefined) return known;
    const freed = preparsedSets < max ? undefined : names.pop();
    const name = freed ?? `${engineId}-${(preparsedSets += 1)}`;
    preparse(name, set);
    names.set(set, name);
    return name;
  };
  return {
    evaluate(set: CompiledSet, request: PolicyRequest): PolicyEvaluation {
      const answer = cedar().statefulIsAuthorized({ ...cedarCall(request), preparsedPolicySetId: nameOf(set) });
      return decisionOf(answer, set.rules, set.version);
    },
  };
}

function preparse(name: string, set: CompiledSet): void {
  const answer = cedar().preparsePolicySet(name, { staticPolicies: set.policies });
  if (answer.type === 'failure')
    throw new Error(`the policy engine refused a set: ${answer.errors.map(({ message }) => message).join('; ')}`);
}

function cedarValues({ facts }: Operation, values: Readonly<Record<string, FactValue>>) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      facts[name]?.type === 'Decimal' ? { __extn: { fn: 'decimal', arg: String(value) } } : value,
    ]),
  );
}

function cedarCall({
  principal,
  operation,
  channel = 'rest',
  resource,
  mode,
  dryRun,
  input,
  facts,
  at,
}: PolicyRequest): Omit<StatefulAuthorizationCall, 'preparsedPolicySetId'> {
  const user = { type: 'User', id: principal.userId };
  const target = { type: 'Resource', id: `${resource.type}/${resource.id}` };
  const roles = [...rolesOf(principal)];
  const { userId: user_id, role, kind, grants, projectId: project_id, clientId: client_id = '' } = principal;
  return {
    principal: user,
    action: { type: 'Action', id: operation.name },
    resource: target,
    context: {
      project_id,
      mode,
      channel,
      dry_run: dryRun,
      hour: at.getUTCHours(),
      weekday: at.getUTCDay() || 7,
      input: cedarValues(operation, facts ?? factsOf(operation, input)),
    },
    entities: [
      { uid: user, attrs: { user_id, role, roles, kind, client_id, grants: [...grants] }, parents: [] },
      { uid: target, attrs: { type: resource.type, id: resource.id }, parents: [] },
    ],
  };
}
