import type { Principal } from '../../auth/principal.js';
import { notFound } from '../../errors.js';
import { requireGrant } from '../../auth/require-grant.js';
import { listPage, type ListQuery, type Page } from '../../stores/lists.js';
import type { Collections } from '../../stores/collections.js';
import type { Threads } from '../../threads/threads.js';
import type { PolicyEvaluation } from './decision.js';
import { catalogData, type Catalog } from '../operations/catalog.js';
import { builtinRulesOf, defaultRules, previewRule } from './default-rules.js';
import { createPolicyEngine, type CompiledSet, type PolicyRequest } from './evaluate.js';
import { replacePolicies } from './replace-policies.js';
import {
  toPolicySetVersion,
  policyVersionId,
  type PolicyRule,
  type PolicySet,
  type PolicySetVersion,
  type PolicyVersionDocument,
} from './rule.js';
import { createPolicyStore } from './store.js';

/** Policies as versioned data, one set per organization (design, S5). */
export interface Policies {
  /**
   * Decides on one call with the version that is in force now, even if another process stored it. Has no side effects.
   */
  evaluate(request: PolicyRequest): Promise<PolicyEvaluation>;
  /** The two halves of `evaluate`, for callers that do other work in between. */
  inForce(organizationId: string): Promise<CompiledSet>;
  decide(rules: CompiledSet, request: PolicyRequest): PolicyEvaluation;
  versionInForce(organizationId: string): Promise<number>;
  /**
   * @throws AppError `scope_denied` without `svc:governance.read`, like the methods below; `replace` needs
   * `svc:governance.write`
   */
  read(principal: Principal): Promise<PolicySet>;
  replace(principal: Principal, policies: PolicyRule[], expectedVersion?: number): Promise<PolicySet>;
  versions(principal: Principal, query: ListQuery): Promise<Page<PolicySetVersion>>;
  version(principal: Principal, version: number): Promise<PolicySet>;
}

interface PolicyDeps {
  collections: Collections;
  catalog: Catalog;
  threads: Threads;
}

export function createPolicies({ collections, catalog, threads }: PolicyDeps): Policies {
  const store = createPolicyStore(collections, catalog);
  const builtin = builtinRulesOf(catalog);
  const engine = createPolicyEngine();
  const operations = catalogData(catalog);
  const check = (policies: PolicyRule[]) => threads.run('checkPolicies', { catalog: operations, policies });
  const setOf = (organization_id: string, record: PolicyVersionDocument | null): PolicySet => ({
    organization_id,
    version: record?.version ?? 0,
    policies: record?.policies ?? [...defaultRules],
    builtin: [...builtin, previewRule],
    created_by: record?.created_by ?? null,
    created_at: record?.created_at ?? null,
  });
  return {
    async evaluate(request) {
      return engine.evaluate(await store.current(request.principal.organizationId), request);
    },
    inForce: store.current,
    decide: engine.evaluate,
    versionInForce: async (organizationId) => (await store.current(organizationId)).version,
    async read(principal) {
      requireGrant(principal, 'svc:governance.read');
      return setOf(principal.organizationId, await store.latest(principal.organizationId));
    },
    async replace(principal, policies, expectedVersion) {
      requireGrant(principal, 'svc:governance.write');
      return setOf(
        principal.organizationId,
        await replacePolicies({ store, check }, principal, policies, expectedVersion),
      );
    },
    async versions(principal, query) {
      requireGrant(principal, 'svc:governance.read');
      const page = await listPage(collections.policy_versions, { organization_id: principal.organizationId }, query);
      return { ...page, data: page.data.map(toPolicySetVersion) };
    },
    async version(principal, version) {
      requireGrant(principal, 'svc:governance.read');
      const record = await collections.policy_versions.findOne({
        _id: policyVersionId(principal.organizationId, version),
      });
      if (!record) throw notFound('version of the policies');
      return setOf(principal.organizationId, record);
    },
  };
}
