import type { Principal } from '../../auth/principal.js';
import { notFound } from '../../base/errors.js';
import { requireGrant } from '../../auth/require-grant.js';
import { listPage, type ListQuery } from '../../stores/lists.js';
import type { Collections } from '../../stores/collections.js';
import type { Threads } from '../../threads/threads.js';
import { catalogData, type Catalog } from '../operations/catalog.js';
import { builtinRulesOf, defaultRules, previewRule } from './default-rules.js';
import { createPolicyEngine, type PolicyRequest } from './evaluate.js';
import { changeRules, replacePolicies, type Change, type ChangeOfRules } from './replace-policies.js';
import {
  toPolicySetVersion,
  policyVersionId,
  type PolicyRule,
  type PolicySet,
  type PolicyVersionDocument,
} from './rule.js';
import { createPolicyStore } from './store.js';

interface PolicyDeps {
  collections: Collections;
  catalog: Catalog;
  threads: Threads;
}

export type Policies = ReturnType<typeof createPolicies>;

/**
 * Policies as versioned data, one set per organization (design, S5). The methods that take a principal throw `scope_denied`
 * without the grant for governance.
 */
export function createPolicies({ collections, catalog, threads }: PolicyDeps) {
  const store = createPolicyStore(collections, catalog);
  const builtin = builtinRulesOf(catalog);
  const engine = createPolicyEngine();
  const operations = catalogData(catalog);
  const checkFor = (owner: string) => (policies: PolicyRule[]) =>
    threads.run('checkPolicies', { catalog: operations, policies }, { owner });
  const setOf = (organization_id: string, record: PolicyVersionDocument | null): PolicySet => ({
    organization_id,
    version: record?.version ?? 0,
    policies: record?.policies ?? [...defaultRules],
    builtin: [...builtin, previewRule],
    created_by: record?.created_by ?? null,
    created_at: record?.created_at ?? null,
    reason: record?.reason ?? null,
  });
  return {
    /** Decides on one call with the version that is in force now, even if another process stored it. Has no side effects. */
    async evaluate(request: PolicyRequest) {
      return engine.evaluate(await store.current(request.principal.organizationId), request);
    },
    // The two halves of `evaluate`, for callers that do other work in between.
    current: store.current,
    decide: engine.evaluate,
    /** Returns null if no rule has this id. */
    ruleInForce: async (organizationId: string, policyId: string) =>
      (await store.current(organizationId)).rules.get(policyId) ?? null,
    versionInForce: async (organizationId: string) => (await store.current(organizationId)).version,
    /** The version in force and its rules, without the built-in ones. */
    async stored(organizationId: string): Promise<{ version: number; policies: PolicyRule[] }> {
      const { version, policies } = setOf(organizationId, await store.latest(organizationId));
      return { version, policies };
    },
    async read(principal: Principal) {
      requireGrant(principal, 'svc:governance.read');
      return setOf(principal.organizationId, await store.latest(principal.organizationId));
    },
    async replace(principal: Principal, policies: PolicyRule[], change: Change = {}) {
      requireGrant(principal, 'svc:governance.write');
      return setOf(
        principal.organizationId,
        await replacePolicies({ store, check: checkFor(principal.organizationId) }, principal, policies, change),
      );
    },
    async changeRules(principal: Principal, next: ChangeOfRules, change: Change = {}) {
      requireGrant(principal, 'svc:governance.write');
      return setOf(
        principal.organizationId,
        await changeRules({ store, check: checkFor(principal.organizationId) }, principal, next, change),
      );
    },
    async versions(principal: Principal, query: ListQuery) {
      requireGrant(principal, 'svc:governance.read');
      const page = await listPage(collections.policy_versions, { organization_id: principal.organizationId }, query);
      return { ...page, data: page.data.map(toPolicySetVersion) };
    },
    async version(principal: Principal, version: number) {
      requireGrant(principal, 'svc:governance.read');
      const record = await collections.policy_versions.findOne({
        _id: policyVersionId(principal.organizationId, version),
      });
      if (!record) throw notFound('version of the policies');
      return setOf(principal.organizationId, record);
    },
  };
}
