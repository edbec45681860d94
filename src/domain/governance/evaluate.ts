import { z } from 'zod';
import { deciderRoles, Grant, rolesOf, toStoredRoles } from '../../auth/grants.js';
import { principalKinds, withGrantsOfRoles, type Principal } from '../../auth/principal.js';
import type { Governance } from '../../governance/create-governance.js';
import { channels } from '../../governance/kernel/entrances.js';
import { defineOperation } from '../operation.js';
import { Id, UserId } from '../../base/ids.js';
import { EpochSeconds } from '../../base/time.js';
import { AppError } from '../../base/errors.js';
import { catalogData } from '../../governance/operations/catalog.js';
import { factsOf, isDecimalText, type FactValue, type Operation } from '../../governance/operations/operation.js';
import { PolicyRules } from '../../governance/policy/rule.js';
import type { Threads } from '../../threads/threads.js';
import { candidateRules, CandidateRule } from './candidate.js';
import { PolicyIds, PolicyVersion } from '../../governance/lifecycles/policy-decision.js';

const Trial = z.strictObject({
  tool: z.string().describe('An operation, or a gateway tool.').meta({ example: 'act.http' }),
  channel: z.enum(channels).default('rest').describe('How the call arrives.'),
  input: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('The input of the call, from which its facts are read.'),
  facts: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
    .default({})
    .describe('Facts that replace those of the input; `GET /v1/policies/operations` lists them.')
    .meta({ example: { host: 'api.example.com', read_only: false } }),
  rules: PolicyRules.optional().describe('The whole set to decide with, instead of the rules in force.'),
  rule: CandidateRule,
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
    approver_roles: z.array(z.enum(deciderRoles)).nullable().meta({ example: null }),
    facts: z
      .record(z.string(), z.unknown())
      .describe('What the rules could read as `context.input`.')
      .meta({ example: { host: 'api.example.com' } }),
    reason: z.string().meta({ example: 'Agents ask two people before they write much.' }),
  })
  .meta({ id: 'PolicyTrialDecision' });

/** Decides a hypothetical call of an operation with one of these names. */
export const evaluatePolicies = (names: readonly string[]) =>
  defineOperation({
    name: 'policies.evaluate',
    effect: 'read',
    grant: 'svc:governance.read',
    input: Trial.extend({ tool: z.enum([...names].sort()).meta(Trial.shape.tool.meta() ?? {}) })
      .superRefine(atMostOneCandidate)
      .meta({ example: { tool: 'act.http', channel: 'agent', facts: { host: 'api.example.com', read_only: false } } }),
    output: TrialDecision,
    errors: ['scope_denied', 'validation_failed'],
    run: ({ deps, ctx, input }) => tryCall(deps, ctx.principal, input),
  });

interface TrialDeps {
  governance: Pick<Governance, 'catalog' | 'policies'>;
  threads: Threads;
}

async function tryCall({ governance: { catalog, policies }, threads }: TrialDeps, caller: Principal, trial: Trial) {
  const operation = catalog.named(trial.tool);
  const facts = { ...factsOf(operation, trial.input), ...checkedFacts(operation, trial.facts) };
  const request = { ...requestOf(caller, trial), facts };
  if (!trial.rules && !trial.rule) return { ...(await policies.evaluate({ ...request, operation })), facts };
  const { version, policies: present } = await policies.stored(caller.organizationId);
  const job = {
    catalog: catalogData(catalog),
    candidate: candidateRules(present, trial),
    operation: operation.name,
    request,
    version,
  };
  const decision = await threads.run('evaluateCandidate', job, { owner: caller.organizationId });
  return { ...decision, facts };
}

function requestOf(caller: Principal, trial: Trial) {
  const { user_id, role, kind, client_id, grants } = trial.principal;
  const clientId = client_id ?? caller.clientId;
  return {
    principal: {
      organizationId: caller.organizationId,
      projectId: caller.projectId,
      userId: user_id ?? caller.userId,
      ...(role === undefined ? toStoredRoles(rolesOf(caller)) : { role }),
      kind: kind ?? caller.kind,
      grants: grants ?? withGrantsOfRoles(caller).grants,
      ...(clientId !== undefined && clientId !== '' && { clientId }),
    },
    channel: trial.channel,
    resource: trial.resource,
    mode: trial.mode,
    dryRun: trial.dry_run,
    input: {},
    at: trial.at === undefined ? new Date() : new Date(trial.at * 1000),
  };
}

const formOf = {
  String: { is: (value: FactValue) => typeof value === 'string', expected: 'a string' },
  Long: { is: (value: FactValue) => Number.isSafeInteger(value), expected: 'an integer' },
  Boolean: { is: (value: FactValue) => typeof value === 'boolean', expected: 'true or false' },
  Set: { is: (value: FactValue) => Array.isArray(value), expected: 'an array of strings' },
  Decimal: {
    is: isDecimalText,
    expected: 'a string with a decimal point and one to four digits after it, such as "120.00"',
  },
};

/** @throws AppError `invalid_request` for a fact that the operation does not have, or of the wrong type */
function checkedFacts({ name, facts: known }: Operation, facts: Readonly<Record<string, FactValue>>) {
  for (const [fact, value] of Object.entries(facts)) {
    const { type } = (Object.hasOwn(known, fact) && known[fact]) || {};
    if (!type)
      throw new AppError(
        'invalid_request',
        `facts.${fact}: ${name} has no such fact; it has ${Object.keys(known).join(', ') || 'none'}`,
      );
    if (!formOf[type].is(value))
      throw new AppError('invalid_request', `facts.${fact}: must be ${formOf[type].expected}`);
  }
  return facts;
}

function atMostOneCandidate({ rules, rule }: Pick<Trial, 'rules' | 'rule'>, context: z.core.$RefinementCtx): void {
  if (rules && rule)
    context.addIssue({ code: 'custom', path: ['rules'], message: 'send either rules or rule, not both' });
}

const PolicyOperation = z
  .object({
    name: z.string().meta({ example: 'act.http' }),
    alias: z
      .string()
      .optional()
      .describe('The name of the gateway tool, if it differs.')
      .meta({ example: 'run-agent' }),
    facts: z.array(
      z.object({
        name: z.string().meta({ example: 'host' }),
        type: z.enum(['String', 'Long', 'Boolean', 'Set', 'Decimal']).describe('As in Cedar.'),
        is_recorded: z
          .boolean()
          .describe(
            'Whether records of calls can contain it. Rules that read others cannot be tried on recorded calls.',
          ),
      }),
    ),
  })
  .meta({ id: 'PolicyOperation' });

export const listPolicyOperations = defineOperation({
  name: 'policies.list-operations',
  effect: 'read',
  grant: 'svc:governance.read',
  output: z.object({ data: z.array(PolicyOperation) }),
  run: async ({ deps }) => ({
    data: deps.governance.catalog.operations.map(({ name, alias, facts }) => ({
      name,
      ...(alias !== undefined && { alias }),
      facts: Object.entries(facts).map(([fact, { type, isFreeText }]) => ({
        name: fact,
        type,
        is_recorded: !isFreeText,
      })),
    })),
  }),
});
