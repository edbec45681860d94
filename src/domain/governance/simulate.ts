import { z } from 'zod';
import { seesWholeOrganization, type Principal } from '../../auth/principal.js';
import { notFound } from '../../base/errors.js';
import type { LifecycleDocument } from '../../governance/lifecycles/record.js';
import { catalogData, type Catalog } from '../../governance/operations/catalog.js';
import { recordedRequest, skipReasons, type RecordedCall } from '../../governance/policy/recorded-call.js';
import { summaryOf } from '../../governance/policy/simulation-report.js';
import { candidateRules, CandidateRule, exactlyOneCandidate } from './candidate.js';
import { PolicyRules } from '../../governance/policy/rule.js';
import { simulationBounds, skip, type Simulation } from '../../governance/policy/simulate.js';
import { firstIdAt, Id, ProjectId } from '../../base/ids.js';
import type { Collections } from '../../stores/collections.js';
import { createTurns } from '../../base/turns.js';
import { defineOperation } from '../operation.js';
import { EpochSeconds } from '../../base/time.js';
import { PolicyIds, PolicyVersion } from '../../governance/lifecycles/policy-decision.js';

const Candidate = z.strictObject({
  policies: PolicyRules.optional().describe('The rules to try, as for `PUT /v1/policies`.'),
  rule: CandidateRule,
  n: z
    .int()
    .min(1)
    .max(simulationBounds.calls)
    .default(200)
    .describe('The number of the last recorded calls to evaluate.'),
  operation: z
    .string()
    .optional()
    .describe('Only calls of this operation or gateway tool.')
    .meta({ example: 'save-context' }),
  project_id: z.string().max(100).optional().describe('Only calls in this project.'),
  since: z
    .number()
    .min(0)
    .max(1e11)
    .optional()
    .describe('Epoch seconds; only calls that started at this time or later.'),
});
type Candidate = z.infer<typeof Candidate>;

const Decision = z.enum(['permit', 'forbid', 'require_approval']);
const rules = PolicyIds.describe(`The rules that determined the decision, at most ${simulationBounds.rules}.`);
const count = z.int().meta({ example: 1 });

const coverage = {
  calls: count.describe('The recorded calls that it covers.'),
  tried: count,
  changed: count.describe('Those that would be decided differently.'),
  not_tried: z.array(z.object({ reason: z.enum(skipReasons), count })),
};

const SimulationAnswer = z
  .object({
    summary: z
      .array(z.string())
      .describe('The result in sentences, with the calls that could not be tried and the facts that rules lack.')
      .meta({ example: ['0 of 11 recorded calls could be tried: 0 would be decided differently.'] }),
    policy_version: PolicyVersion.describe(
      'The version in force, which the candidate would replace: `expected_version` of `PUT /v1/policies`.',
    ),
    evaluated: count.describe('The calls that the candidate decided: the unchanged and the changed ones.'),
    unchanged: count,
    changed_count: count,
    changed: z
      .array(
        z.object({
          lifecycle_id: Id,
          operation: z.string().meta({ example: 'save-context' }),
          project_id: ProjectId,
          at: EpochSeconds.describe('When the call was decided, in epoch seconds.'),
          recorded: z.object({ decision: Decision, rules, policy_version: PolicyVersion }),
          candidate: z.object({ decision: Decision, rules }),
        }),
      )
      .describe(`The newest calls with another decision, at most ${simulationBounds.changed}.`),
    transitions: z
      .array(z.object({ from: Decision, to: Decision, count }))
      .describe('All changed calls by their decisions.'),
    skipped: z
      .array(z.object({ reason: z.enum(skipReasons), count }))
      .describe(
        'All calls that were not tried. `not_decided`: they ended before S5, or are tasks of the product. `unknown_operation`: the operation no longer exists. `facts_not_recorded`: a rule reads what the lifecycle does not contain. `time_limit`: the set is too slow to evaluate all calls.',
      ),
    operations: z.array(z.object({ operation: z.string().meta({ example: 'act.mail' }), ...coverage })),
    rules: z
      .array(
        z.object({
          policy_id: z.string().meta({ example: 'agents-ask' }),
          change: z
            .enum(['added', 'changed', 'deleted', 'none'])
            .describe('How the rule differs from the version in force.'),
          ...coverage,
          unrecorded_facts: z
            .array(z.string())
            .describe('What the rule reads and the records of calls that were not tried do not contain.')
            .meta({ example: ['context.input.recipients'] }),
        }),
      )
      .describe('The rules of the candidate and those that it deletes, with the recorded calls that each covers.'),
  })
  .meta({ id: 'PolicySimulation' });

/** One simulation at a time in a process, because the threads also redact the answers of queries. */
const turns = createTurns({
  what: 'simulations',
  maxRunning: 1,
  maxTotal: 1,
  maxWaiting: 10,
  waitTimeoutMs: 15_000,
  whose: 'the organization',
});

/** Tries rules on recorded calls of operations with these names, and reports which they would decide differently. */
export const simulatePolicies = (names: readonly string[]) =>
  defineOperation({
    name: 'policies.simulate',
    effect: 'read',
    grant: 'svc:governance.read',
    input: Candidate.extend({
      operation: z
        .enum([...names].sort())
        .optional()
        .meta(Candidate.shape.operation.meta() ?? {}),
    })
      .meta({
        id: 'PolicySimulationRequest',
        example: {
          rule: { policy_id: 'agents-ask', effect: 'require_approval', when: 'principal.kind == "api_key"' },
          n: 500,
        },
      })
      .superRefine(exactlyOneCandidate('policies')),
    output: SimulationAnswer,
    errors: ['validation_failed', 'scope_denied', 'not_found', 'quota_exceeded'],
    async run({ deps, ctx: { principal }, input }) {
      const { threads, mongo, governance } = deps;
      const { catalog, policies } = governance;
      const [{ version, policies: present }, { calls, skipped }] = await Promise.all([
        policies.stored(principal.organizationId),
        recordedCalls(mongo.collections, catalog, principal, input),
      ]);
      const owner = principal.organizationId;
      const candidate = candidateRules(present, { rules: input.policies, rule: input.rule });
      const job = { catalog: catalogData(catalog), present, candidate, calls };
      const found = await turns.take(owner, () => threads.run('simulatePolicies', job, { owner }));
      for (const { reason, count: number } of skipped) skip(found, reason, number);
      return { summary: summaryOf(found), policy_version: version, ...found };
    },
  });

const perRead = 100;

async function recordedCalls(
  { lifecycles, projects }: Pick<Collections, 'lifecycles' | 'projects'>,
  catalog: Catalog,
  principal: Principal,
  { n, operation, project_id, since }: Candidate,
): Promise<{ calls: RecordedCall[]; skipped: Simulation['skipped'] }> {
  const { organizationId } = principal;
  const project = await visibleProject({ projects }, principal, project_id);
  const named = operation === undefined ? undefined : catalog.named(operation);
  const found = lifecycles
    .find(
      {
        ...(project === undefined ? { organization_id: organizationId } : { project_id: project }),
        ...(named && { tool: { $in: [...new Set([named.name, named.alias ?? named.name])] } }),
        ...(since !== undefined && { _id: { $gte: firstIdAt(since) } }),
      },
      {
        projection: { tool: 1, principal: 1, project_id: 1, organization_id: 1, created_at: 1, decision: 1, facts: 1 },
      },
    )
    .sort({ _id: -1 })
    .limit(n)
    .batchSize(perRead);
  const calls: RecordedCall[] = [];
  const tally: Pick<Simulation, 'skipped'> = { skipped: [] };
  for await (const record of found) {
    const call = toRecordedCall(catalog, record);
    if (typeof call === 'string') skip(tally, call);
    else calls.push(call);
  }
  return { calls, ...tally };
}

/**
 * The project to which the calls are limited, or undefined for the whole organization.
 * @throws AppError `not_found`, the same for an unknown project and for one that the caller does not see
 */
async function visibleProject(
  { projects }: Pick<Collections, 'projects'>,
  principal: Principal,
  wanted: string | undefined,
): Promise<string | undefined> {
  const seesAll = seesWholeOrganization(principal);
  if (wanted === undefined) return seesAll ? undefined : principal.projectId;
  if (wanted === principal.projectId) return wanted;
  const project = seesAll ? await projects.findOne({ _id: wanted }) : null;
  if (project?.organization_id !== principal.organizationId) throw notFound('the project');
  return wanted;
}

function toRecordedCall(
  catalog: Catalog,
  record: LifecycleDocument,
): RecordedCall | 'not_decided' | 'unknown_operation' {
  const { _id, tool, project_id, decision, facts } = record;
  if (!decision || !facts) return 'not_decided';
  const operation = catalog.find(facts.operation ?? tool);
  if (!operation) return 'unknown_operation';
  return {
    lifecycle_id: _id,
    operation: operation.name,
    project_id,
    at: facts.at,
    recorded: {
      decision: decision.decision,
      rules: decision.policy_ids.slice(0, simulationBounds.rules),
      policy_version: decision.policy_version,
    },
    ...recordedRequest(record, facts, operation),
  };
}
