import canonicalize from 'canonicalize';
import type { Principal } from '../../auth/principal.js';
import { seesWholeOrganization } from '../../auth/principal.js';
import { AppError } from '../../errors.js';
import { epochSeconds } from '../../time.js';
import { problemsOf, type RuleProblem } from './compile.js';
import { builtinPrefix, defaultRules } from './default-rules.js';
import type { PolicyRule, PolicyVersionDocument } from './rule.js';
import type { PolicyStore } from './store.js';

/**
 * Stores the next version. Without `expectedVersion` it replaces whichever is in force when it is stored.
 * @throws AppError `validation_failed` naming each rule and its problem, `conflict` when the version in force is
 * another than the expected one, `S2:resolve-scope` for a project's administrator who reaches beyond that project
 */
export async function replacePolicies(
  store: PolicyStore,
  principal: Principal,
  policies: PolicyRule[],
  expectedVersion: number | undefined,
): Promise<PolicyVersionDocument> {
  refuseInvalid(policies);
  const present = await store.latest(principal.organizationId);
  const version = present?.version ?? 0;
  if (expectedVersion !== undefined && expectedVersion !== version) {
    throw new AppError('conflict', `the policies are at version ${version}: read them again`);
  }
  if (!seesWholeOrganization(principal)) refuseForeignChanges(principal.projectId, present?.policies ?? defaultRules, policies);
  return store.append({
    organization_id: principal.organizationId,
    version: version + 1,
    policies,
    created_by: principal.userId,
    created_at: epochSeconds(),
  });
}

function refuseInvalid(policies: readonly PolicyRule[]): void {
  const reserved = policies.filter(({ policy_id }) => policy_id.startsWith(builtinPrefix));
  const problems: RuleProblem[] = reserved.map(({ policy_id }) => ({ policy_id, problem: `the prefix ${builtinPrefix} is reserved` }));
  problems.push(...problemsOf(policies));
  if (problems.length === 0) return;
  const lines = problems.slice(0, 20).map(({ policy_id, problem }) => `${policy_id}: ${problem}`);
  throw new AppError('validation_failed', lines.join('; '));
}

/** A project's administrator may add, change and remove the rules of that project alone. */
function refuseForeignChanges(projectId: string, before: readonly PolicyRule[], after: readonly PolicyRule[]): void {
  const isForeign = ({ projects }: PolicyRule) => projects?.length !== 1 || projects[0] !== projectId;
  const textsOf = (rules: readonly PolicyRule[]) => new Map(rules.filter(isForeign).map((rule) => [canonicalize(rule), rule.policy_id]));
  const [kept, wanted] = [textsOf(before), textsOf(after)];
  const changed = [...kept, ...wanted].filter(([text]) => !(kept.has(text) && wanted.has(text))).map(([, id]) => id);
  if (changed.length === 0) return;
  throw new AppError('S2:resolve-scope', `your role changes only rules of the project ${projectId}, not ${[...new Set(changed)].join(', ')}`);
}
