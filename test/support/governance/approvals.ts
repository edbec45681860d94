import { afterAll, beforeAll } from '@jest/globals';
import type { Principal } from '../../../src/auth/principal.js';
import { defaultGrants } from '../../../src/auth/grants.js';
import { approvalRoutes } from '../../../src/surfaces/gateway/routes/approvals.js';
import { payloadDigest } from '../../../src/governance/approvals/payload-digest.js';
import type { ApprovalRequest } from '../../../src/governance/approvals/stage.js';
import type { PolicyEvaluation } from '../../../src/governance/policy/decision.js';
import type { Approvals } from '../../../src/governance/approvals/create-approvals.js';
import { newId } from '../../../src/base/ids.js';
import type { Deps } from '../../../src/domain/deps.js';
import { useDeps, type Workspace } from '../fixture.js';
import { serveRoutes, type RouteServer } from './gateway-server.js';

export function principalOf(role = 'OWNER', fields: Partial<Principal> = {}): Principal {
  return {
    kind: 'user_jwt',
    userId: newId(),
    organizationId: newId(),
    departmentId: newId(),
    projectId: newId(),
    role,
    grants: defaultGrants(role),
    ...fields,
  };
}

/** Another person in the same project. */
export function colleagueOf(principal: Principal, role = 'ORG_ADMIN', fields: Partial<Principal> = {}): Principal {
  const { organizationId, departmentId, projectId } = principal;
  return principalOf(role, { organizationId, departmentId, projectId, ...fields });
}

/** Replaces the rules of the workspace: everything is permitted except these operations. */
export function storeRule(
  { governance }: Pick<Deps, 'governance'>,
  { organizationId, projectID: projectId }: Pick<Workspace, 'organizationId' | 'projectID'>,
  effect: 'forbid' | 'require_approval',
  ...tools: string[]
): Promise<unknown> {
  return governance.policies.replace(principalOf('OWNER', { organizationId, projectId }), [
    { policy_id: 'all', description: '', effect: 'permit' },
    { policy_id: 'special', description: '', effect, tools },
  ]);
}

export const asking: PolicyEvaluation = {
  decision: 'require_approval',
  policy_ids: ['ask'],
  policy_version: 1,
  approvers: 1,
  approval_ttl_seconds: 600,
  starter_may_decide: false,
  approver_roles: null,
  reason: 'Writes are looked at.',
};
export const payload = { entities: [{ type: 'Person', name: 'Ada' }], source: 'test' };

/** A member's API key. */
export function agent(fields: Partial<Principal> = {}): Principal {
  return principalOf('MEMBER', { kind: 'api_key', keyId: newId(), ...fields });
}

/** A call that a policy holds. */
export function heldCall(principal: Principal, fields: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    principal,
    lifecycleId: newId(),
    tool: 'save-context',
    payloadDigest: payloadDigest('save-context', payload),
    decision: asking,
    resumeToken: undefined,
    dryRun: false,
    forApprovers: async () => ({ input: payload }),
    summary: { title: 'Save context', fields: payload },
    ...fields,
  };
}

export async function hold(
  approvals: Approvals,
  principal: Principal,
  fields: Partial<ApprovalRequest> = {},
): Promise<{ approval_id: string; expires_at: number }> {
  const outcome = await approvals.stage(heldCall(principal, fields));
  if (outcome.outcome !== 'pending') throw new Error(`the call was ${outcome.outcome}`);
  return { approval_id: outcome.approvalId, expires_at: outcome.expiresAt };
}

/** The approvals of two processes, and the routes of one of them. */
export function useApprovals() {
  const [deps, otherProcess] = [useDeps(), useDeps()];
  let server: RouteServer;
  beforeAll(async () => {
    server = await serveRoutes(deps, approvalRoutes);
  });
  afterAll(() => server.close());
  const as: RouteServer['as'] = (principal) => server.as(principal);
  return { deps, approvals: deps.governance.approvals, elsewhere: otherProcess.governance.approvals, api: { as } };
}
