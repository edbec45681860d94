import { z } from 'zod';
import { adminRoles, Grant } from '../../auth/grants.js';
import { principalKinds, type Principal } from '../../auth/principal.js';
import type { Governance } from '../../governance/create-governance.js';
import { channels } from '../../governance/kernel/call.js';
import { defineOperation } from '../operation.js';
import { Id, UserId } from '../../ids.js';
import { EpochSeconds } from '../../time.js';
import { PolicyIds, PolicyVersion } from '../../governance/lifecycles/policy-decision.js';

const Trial = z.strictObject({
  tool: z.string().describe('An operation, or a gateway tool.').meta({ example: 'query-context' }),
  channel: z.enum(channels).default('rest').describe('How the call arrives.'),
  input: z.record(z.string(), z.unknown()).default({}),
  resource: z.strictObject({ type: z.string().max(100), id: Id.max(500) }).default({ type: 'project', id: '' }),
  mode: z.enum(['simple', 'governed']).default('simple'),
  dry_run: z.boolean().default(false),
  at: EpochSeconds.min(0).max(1e11).optional().describe('Epoch seconds; left out: now.'),
  principal: z
    .strictObject({
      user_id: UserId.max(200),
      role: z.string().max(100),
      kind: z.enum(principalKinds),
      client_id: z.string().max(2048),
      grants: z.array(Grant),
    })
    .partial()
    .default({})
    .describe('Fields that are left out default to the caller’s.'),
});
type Trial = z.infer<typeof Trial>;

const TrialDecision = z
  .object({
    decision: z.enum(['permit', 'forbid', 'require_approval']),
    policy_ids: PolicyIds,
    policy_version: PolicyVersion,
    approvers: z.int().meta({ example: 1 }),
    approval_ttl_seconds: z.int().meta({ example: 86400 }),
    starter_may_decide: z.boolean(),
    approver_roles: z.array(z.enum(adminRoles)).nullable().meta({ example: null }),
    reason: z.string().meta({ example: 'Agents ask two people before they write much.' }),
  })
  .meta({ id: 'PolicyTrialDecision' });

/** Decides a hypothetical call of an operation with one of these names. */
export const evaluatePolicies = (names: readonly string[]) =>
  defineOperation({
    name: 'policies.evaluate',
    effect: 'read',
    grant: 'svc:governance.read',
    input: Trial.extend({ tool: z.enum([...names].sort()).meta(Trial.shape.tool.meta() ?? {}) }),
    output: TrialDecision,
    errors: ['scope_denied'],
    run: ({ deps, ctx, input }) => tryCall(deps.governance, ctx.principal, input),
  });

function tryCall({ catalog, policies }: Pick<Governance, 'catalog' | 'policies'>, caller: Principal, trial: Trial) {
  const { user_id, role, kind, client_id, grants } = trial.principal;
  const clientId = client_id ?? caller.clientId;
  return policies.evaluate({
    principal: {
      organizationId: caller.organizationId,
      projectId: caller.projectId,
      userId: user_id ?? caller.userId,
      role: role ?? caller.role,
      kind: kind ?? caller.kind,
      grants: grants ?? caller.grants,
      ...(clientId !== undefined && clientId !== '' && { clientId }),
    },
    operation: catalog.named(trial.tool),
    channel: trial.channel,
    resource: trial.resource,
    mode: trial.mode,
    dryRun: trial.dry_run,
    input: trial.input,
    at: trial.at === undefined ? new Date() : new Date(trial.at * 1000),
  });
}
