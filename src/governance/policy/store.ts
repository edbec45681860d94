import { AppError } from '../../errors.js';
import { createFreshReads } from '../../stores/fresh-reads.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import type { Collections } from '../../stores/collections.js';
import { defaultRules } from './default-rules.js';
import { compileSet, type CompiledSet } from './evaluate.js';
import { policyVersionId, type PolicyVersionDocument } from './rule.js';

export interface PolicyStore {
  /** The version in force now, whichever process stored it; compiled once a process. */
  current(organizationId: string): Promise<CompiledSet>;
  /** The record of the version in force; null where nothing was stored yet. */
  latest(organizationId: string): Promise<PolicyVersionDocument | null>;
  /** @throws AppError `conflict` when another version was stored meanwhile */
  append(record: Omit<PolicyVersionDocument, '_id'>): Promise<PolicyVersionDocument>;
}

const maxOrganizations = 1000;

/**
 * Versions are only ever added, each by one insert under its number. So a process that knows version n asks on every
 * call, by `_id`, whether n + 1 is there: one point read that nearly always finds nothing.
 */
export function createPolicyStore({ policy_versions }: Pick<Collections, 'policy_versions'>): PolicyStore {
  const known = new Map<string, CompiledSet>();
  const defaults = compileSet(0, defaultRules);
  const readVersion = createFreshReads(policy_versions);

  const remember = (organizationId: string, set: CompiledSet): CompiledSet => {
    const present = known.get(organizationId);
    if (present && present.version >= set.version) return present;
    known.delete(organizationId);
    const [oldest] = known.keys();
    if (known.size >= maxOrganizations && oldest !== undefined) known.delete(oldest);
    known.set(organizationId, set);
    return set;
  };
  const latest = (organizationId: string) =>
    policy_versions.find({ organization_id: organizationId }).sort({ version: -1 }).limit(1).next();

  const current = async (organizationId: string): Promise<CompiledSet> => {
    const present = known.get(organizationId);
    const newer = present
      ? await readVersion(policyVersionId(organizationId, present.version + 1))
      : await latest(organizationId);
    if (!newer) return present ?? remember(organizationId, defaults);
    remember(organizationId, compileSet(newer.version, newer.policies));
    // The version after it may be there as well.
    return current(organizationId);
  };

  return {
    latest,
    current,
    async append(fields) {
      const record = { _id: policyVersionId(fields.organization_id, fields.version), ...fields };
      try {
        await policy_versions.insertOne(record);
        return record;
      } catch (error) {
        if (isDuplicateKey(error)) throw new AppError('conflict', 'the policies were changed meanwhile: read them again');
        throw error;
      }
    },
  };
}
