import canonicalize from 'canonicalize';
import type { Principal } from '../../auth/principal.js';
import { seesWholeOrganization } from '../../auth/principal.js';
import { AppError } from '../../errors.js';
import { epochSeconds } from '../../time.js';
import { defaultRules } from './default-rules.js';
import type { PolicyRule, PolicyVersionDocument } from './rule.js';
import type { PolicyStore } from './store.js';

interface PolicyWriter {
  store: PolicyStore;
  /** @throws AppError `validation_failed` with each rule that cannot be stored, and its problem */
  check(policies: PolicyRule[]): Promise<void>;
}

/**
 * Stores the next version. Without `expectedVersion`, it replaces the version that is in force, whatever its number.
 * @throws AppError `validation_failed` with each rule and its problem; `conflict` if the version in force is not the
 * expected one; `scope_denied` for a project admin who changes rules of other projects
 */
export async function replacePolicies(
  { store, check }: PolicyWriter,
  principal: Principal,
  policies: PolicyRule[],
  expectedVersion: number | undefined,
): Promise<PolicyVersionDocument> {
  await check(policies);
  const present = await store.latest(principal.organizationId);
  const version = present?.version ?? 0;
  // A new version invalidates all resume tokens, so unchanged rules and a repeated request do not create one.
  if (present && canonicalize(present.policies) === canonicalize(policies)) return present;
  if (expectedVersion !== undefined && expectedVersion !== version) {
    throw new AppError('conflict', `the policies are at version ${version}: read them again`);
  }
  if (!seesWholeOrganization(principal))
    refuseForeignChanges(principal.projectId, present?.policies ?? defaultRules, policies);
  return store.append({
    organization_id: principal.organizationId,
    version: version + 1,
    policies,
    created_by: principal.userId,
    created_at: epochSeconds(),
  });
}

/** A project admin can add, change and remove only rules for that project. */
function refuseForeignChanges(projectId: string, before: readonly PolicyRule[], after: readonly PolicyRule[]): void {
  const isForeign = ({ projects }: PolicyRule) => projects?.length !== 1 || projects[0] !== projectId;
  const textsOf = (rules: readonly PolicyRule[]) =>
    new Map(rules.filter(isForeign).map((rule) => [canonicalize(rule), rule.policy_id]));
  const [kept, wanted] = [textsOf(before), textsOf(after)];
  const changed = [...kept, ...wanted].filter(([text]) => !(kept.has(text) && wanted.has(text))).map(([, id]) => id);
  if (changed.length === 0) return;
  throw new AppError(
    'scope_denied',
    `your role changes only rules of the project ${projectId}, not ${[...new Set(changed)].join(', ')}`,
  );
}
