import { requireAdmin, type Principal } from '../../auth/principal.js';
import { notFound } from '../../errors.js';
import { listPage, type ListQuery, type Page } from '../../http/lists.js';
import type { Collections } from '../../stores/collections.js';
import type { PolicyEvaluation } from './decision.js';
import { builtinRules, defaultRules } from './default-rules.js';
import { createPolicyEngine, type CompiledSet, type PolicyRequest } from './evaluate.js';
import { replacePolicies } from './replace-policies.js';
import { policySetVersionView, policyVersionId, type PolicyRule, type PolicySet, type PolicySetVersion, type PolicyVersionDocument } from './rule.js';
import { createPolicyStore } from './store.js';

/** Policies as versioned data, one set an organization (design, S5). */
export interface Policies {
  /** Decides one call by the version in force at this moment, whichever process stored it. Has no effect. */
  evaluate(request: PolicyRequest): Promise<PolicyEvaluation>;
  /** The two halves of `evaluate`, for who has something else to ask meanwhile. */
  inForce(organizationId: string): Promise<CompiledSet>;
  decide(rules: CompiledSet, request: PolicyRequest): PolicyEvaluation;
  versionInForce(organizationId: string): Promise<number>;
  /** @throws AppError `S2:resolve-scope` without an administrator's role, as all below */
  read(principal: Principal): Promise<PolicySet>;
  replace(principal: Principal, policies: PolicyRule[], expectedVersion?: number): Promise<PolicySet>;
  versions(principal: Principal, query: ListQuery): Promise<Page<PolicySetVersion>>;
  version(principal: Principal, version: number): Promise<PolicySet>;
}

export function createPolicies({ collections }: { collections: Collections }): Policies {
  const store = createPolicyStore(collections);
  const engine = createPolicyEngine();
  const setOf = (organization_id: string, record: PolicyVersionDocument | null): PolicySet => ({
    organization_id,
    version: record?.version ?? 0,
    policies: record?.policies ?? [...defaultRules],
    builtin: [...builtinRules],
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
      requireAdmin(principal);
      return setOf(principal.organizationId, await store.latest(principal.organizationId));
    },
    async replace(principal, policies, expectedVersion) {
      requireAdmin(principal);
      return setOf(principal.organizationId, await replacePolicies(store, principal, policies, expectedVersion));
    },
    async versions(principal, query) {
      requireAdmin(principal);
      const page = await listPage(collections.policy_versions, { organization_id: principal.organizationId }, query);
      return { ...page, data: page.data.map(policySetVersionView) };
    },
    async version(principal, version) {
      requireAdmin(principal);
      const record = await collections.policy_versions.findOne({ _id: policyVersionId(principal.organizationId, version) });
      if (!record) throw notFound('version of the policies');
      return setOf(principal.organizationId, record);
    },
  };
}
