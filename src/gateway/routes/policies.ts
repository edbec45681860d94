import type { Response } from 'express';
import { z } from 'zod';
import { principalKinds, requireAdmin, type Principal } from '../../auth/principal.js';
import { Grant } from '../../auth/grants.js';
import { AppError } from '../../errors.js';
import type { Policies } from '../../governance/policy/create-policies.js';
import { governedTools } from '../../governance/policy/governed-tools.js';
import { PolicyRule, PolicySet, PolicySetVersion } from '../../governance/policy/rule.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { ListQuery, listOf } from '../../http/lists.js';

const tag = 'governance';

const NewPolicies = z.strictObject({
  policies: z.array(PolicyRule).max(200),
  expected_version: z.int().min(0).optional().meta({ description: 'The version that these replace; the header `If-Match` says the same.' }),
});

const Trial = z.strictObject({
  tool: z.enum(Object.keys(governedTools)),
  input: z.record(z.string(), z.unknown()).default({}),
  resource: z.strictObject({ type: z.string().max(100), id: z.string().max(500) }).default({ type: 'project', id: '' }),
  mode: z.enum(['simple', 'governed']).default('simple'),
  dry_run: z.boolean().default(false),
  at: z.number().min(0).max(1e11).optional().meta({ description: 'Epoch seconds; left out: now.' }),
  principal: z
    .strictObject({ user_id: z.string().max(200), role: z.string().max(100), kind: z.enum(principalKinds), grants: z.array(Grant) })
    .partial()
    .default({})
    .meta({ description: 'What is left out is the caller’s own.' }),
});
type Trial = z.infer<typeof Trial>;

const TrialDecision = z
  .object({
    decision: z.enum(['permit', 'forbid', 'require_approval']),
    policy_ids: z.array(z.string()),
    policy_version: z.int(),
    approvers: z.int(),
    approval_ttl_seconds: z.int(),
    reason: z.string(),
  })
  .meta({ id: 'PolicyTrialDecision' });

export interface PolicyRoutesDeps {
  policies: Policies;
}

/** The organization's policies, for its administrators (contract, policies). */
export function policyRoutes({ policies }: PolicyRoutesDeps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/policies',
      permission: 'any',
      tag,
      summary: 'Read the policies in force',
      response: { schema: PolicySet, description: 'The set, with its version as `ETag`.' },
      handler: async ({ ctx }) => tagged(ctx.res, await policies.read(ctx.principal)),
    }),
    defineRoute({
      method: 'put',
      path: '/v1/policies',
      permission: 'any',
      tag,
      summary: 'Replace the policies by a new version',
      description: 'Refused as a whole, naming each rule and its problem, when one rule is not valid; those in force then stay.',
      body: NewPolicies,
      response: { schema: PolicySet, description: 'The new version, which the next call of any process sees.' },
      errors: ['conflict', 'validation_failed', 'S2:resolve-scope'],
      handler: async ({ ctx, body }) => {
        const expected = expectedVersion(ctx.req.get('if-match'), body.expected_version);
        return tagged(ctx.res, await policies.replace(ctx.principal, body.policies, expected));
      },
    }),
    defineRoute({
      method: 'post',
      path: '/v1/policies/evaluate',
      permission: 'any',
      tag,
      summary: 'Try what the policies say about a call, without effect',
      body: Trial,
      response: { schema: TrialDecision, description: 'What the call would meet at S5.' },
      errors: ['S2:resolve-scope'],
      handler: ({ ctx, body }) => tryCall(policies, ctx.principal, body),
    }),
    ...versionRoutes(policies),
  ];
}

function versionRoutes(policies: Policies): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/policies/versions',
      permission: 'any',
      tag,
      summary: 'List the versions of the policies',
      query: ListQuery,
      response: { schema: listOf(PolicySetVersion), description: 'Newest first.' },
      errors: ['S2:resolve-scope'],
      handler: ({ ctx, query }) => policies.versions(ctx.principal, query),
    }),
    defineRoute({
      method: 'get',
      path: '/v1/policies/versions/{version}',
      permission: 'any',
      tag,
      summary: 'Read one version of the policies',
      params: z.object({ version: z.coerce.number().int().min(1).max(9_999_999_999) }),
      response: { schema: PolicySet, description: 'The version as it was stored.' },
      errors: ['S2:resolve-scope'],
      handler: ({ ctx, params }) => policies.version(ctx.principal, params.version),
    }),
  ];
}

async function tryCall(policies: Policies, caller: Principal, trial: Trial) {
  requireAdmin(caller);
  const { user_id, role, kind, grants } = trial.principal;
  return policies.evaluate({
    principal: {
      organizationId: caller.organizationId,
      projectId: caller.projectId,
      userId: user_id ?? caller.userId,
      role: role ?? caller.role,
      kind: kind ?? caller.kind,
      grants: grants ?? caller.grants,
    },
    tool: trial.tool,
    resource: trial.resource,
    mode: trial.mode,
    dryRun: trial.dry_run,
    input: trial.input,
    at: trial.at === undefined ? new Date() : new Date(trial.at * 1000),
  });
}

function tagged(res: Response, set: PolicySet): PolicySet {
  res.set('ETag', `"${set.version}"`);
  return set;
}

function expectedVersion(ifMatch: string | undefined, inBody: number | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return inBody;
  const version = Number(/^(?:W\/)?"(\d{1,10})"$/.exec(ifMatch)?.[1] ?? NaN);
  if (Number.isNaN(version)) throw new AppError('invalid_request', 'If-Match: must be the ETag of GET /v1/policies');
  if (inBody !== undefined && inBody !== version) throw new AppError('invalid_request', 'If-Match and expected_version do not agree');
  return version;
}
