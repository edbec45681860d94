import { LRUCache } from 'lru-cache';
import { createFreshReads } from '../../stores/fresh-reads.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import type { Collections } from '../../stores/collections.js';
import type { Catalog } from '../operations/catalog.js';
import { defaultRules } from './default-rules.js';
import { compileSet, type CompiledSet } from './evaluate.js';
import { policyVersionId, type PolicyVersionDocument } from './rule.js';

export type PolicyStore = ReturnType<typeof createPolicyStore>;

const maxOrganizations = 1000;

/**
 * Versions are only added, each by one insert under its number. A process that knows version n checks on each call by
 * `_id` whether version n + 1 exists. This point read nearly always finds nothing.
 */
export function createPolicyStore({ policy_versions }: Pick<Collections, 'policy_versions'>, catalog: Catalog) {
  const known = new LRUCache<string, CompiledSet>({ max: maxOrganizations });
  const defaults = compileSet(catalog, 0, defaultRules);
  const readVersion = createFreshReads(policy_versions);

  const remember = (organizationId: string, set: CompiledSet): CompiledSet => {
    const present = known.get(organizationId);
    if (present && present.version >= set.version) return present;
    known.set(organizationId, set);
    return set;
  };
  /** The record of the version in force, or null if none was stored. */
  const latest = (organizationId: string): Promise<PolicyVersionDocument | null> =>
    policy_versions.find({ organization_id: organizationId }).sort({ version: -1 }).limit(1).next();

  /** The version that is in force now, even if another process stored it. Compiled once per process. */
  const current = async (organizationId: string): Promise<CompiledSet> => {
    const present = known.get(organizationId);
    const newer = present
      ? await readVersion(policyVersionId(organizationId, present.version + 1))
      : await latest(organizationId);
    if (!newer) return present ?? remember(organizationId, defaults);
    remember(organizationId, compileSet(catalog, newer.version, newer.policies));
    // There may be an even newer version.
    return current(organizationId);
  };

  return {
    latest,
    current,
    /** @returns undefined if another version was stored at the same time */
    async append(fields: Omit<PolicyVersionDocument, '_id'>): Promise<PolicyVersionDocument | undefined> {
      const record = { _id: policyVersionId(fields.organization_id, fields.version), ...fields };
      try {
        await policy_versions.insertOne(record);
        return record;
      } catch (error) {
        if (isDuplicateKey(error)) return undefined;
        throw error;
      }
    },
  };
}
