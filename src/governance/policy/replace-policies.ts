import canonicalize from 'canonicalize';
import type { Principal } from '../../auth/principal.js';
import { seesWholeOrganization } from '../../auth/principal.js';
import { AppError } from '../../base/errors.js';
import { createTurns } from '../../base/turns.js';
import { untilWritten } from '../../stores/until-written.js';
import { epochSeconds } from '../../base/time.js';
import { defaultRules } from './default-rules.js';
import type { PolicyRule, PolicyVersionDocument } from './rule.js';
import type { PolicyStore } from './store.js';

interface PolicyWriter {
  store: PolicyStore;
  /** @throws AppError `validation_failed` with each rule that cannot be stored, and its problem */
  check(policies: PolicyRule[]): Promise<void>;
}

/** What a caller sends with a change. */
export interface Change {
  /** The version that the caller read. */
  expectedVersion?: number | undefined;
  /** Why the rules change, for the list of versions. */
  reason?: string | undefined;
}

/** Returns the rules of the next version. Receives those in force, and may be called several times. */
export type ChangeOfRules = (present: readonly PolicyRule[]) => PolicyRule[];

/**
 * Stores the next version. Without the expected version, it replaces the version that is in force, whatever its number.
 * @throws AppError `validation_failed` with each rule and its problem; `conflict` if the version in force is not the
 * expected one; `scope_denied` for a project admin who changes rules of other projects
 */
export async function replacePolicies(
  writer: PolicyWriter,
  principal: Principal,
  policies: PolicyRule[],
  change: Change,
): Promise<PolicyVersionDocument> {
  const stored = await storeNext(writer, principal, () => policies, change);
  if (!stored) throw overtaken();
  return stored;
}

const changeTimeoutMs = 60_000;

/** Changes of one organization wait for each other, because the check of a large set takes seconds. */
const turns = createTurns({
  what: 'changes of its rules',
  maxRunning: 1,
  maxWaiting: 100,
  waitTimeoutMs: changeTimeoutMs,
  whose: 'the organization',
});

/**
 * Stores a version in which one rule differs, and keeps what others store at the same time.
 * @throws AppError what `next` throws, and like `replacePolicies`
 */
export function changeRules(
  writer: PolicyWriter,
  principal: Principal,
  next: ChangeOfRules,
  change: Change,
): Promise<PolicyVersionDocument> {
  const attempt = () => storeNext(writer, principal, next, change);
  return turns.take(principal.organizationId, () => untilWritten(changeTimeoutMs, attempt, overtaken));
}

/** @returns undefined if another version was stored at the same time */
async function storeNext(
  { store, check }: PolicyWriter,
  principal: Principal,
  next: ChangeOfRules,
  { expectedVersion, reason }: Change,
): Promise<PolicyVersionDocument | undefined> {
  const present = await store.latest(principal.organizationId);
  const before = present?.policies ?? defaultRules;
  const policies = next(before);
  await check(policies);
  const version = present?.version ?? 0;
  // A new version invalidates all resume tokens, so unchanged rules and a repeated request do not create one.
  if (present && canonicalize(present.policies) === canonicalize(policies)) return present;
  if (expectedVersion !== undefined && expectedVersion !== version) {
    throw new AppError('conflict', `the policies are at version ${version}: read them again`);
  }
  if (!seesWholeOrganization(principal)) refuseForeignChanges(principal.projectId, before, policies);
  return store.append({
    organization_id: principal.organizationId,
    version: version + 1,
    policies,
    created_by: principal.userId,
    created_at: epochSeconds(),
    reason: reason ?? null,
  });
}

function overtaken(): AppError {
  return new AppError('conflict', 'the policies were changed by another request: read them again');
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
