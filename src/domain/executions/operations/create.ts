import { isJsonObject } from '../../../base/json.js';
import { z } from 'zod';
import type { AgentPlan } from '../../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../deps.js';
import { AppError } from '../../../base/errors.js';
import { newId } from '../../../base/ids.js';
import { writeTogether } from '../../../stores/grouped-writes.js';
import type { Collections } from '../../../stores/collections.js';
import { insertOnce } from '../../../stores/insert-once.js';
import { epochSeconds } from '../../../base/time.js';
import type { AgentflowDocument } from '../../agentflows/record.js';
import { failoverGoalOf, agentflowProblems, isEmpty } from '../../agentflows/rules.js';
import { withAgentflowTools } from '../../agentflows/operations/agentflow-tools.js';
import { requireInputs } from '../../agentflows/operations/schemas.js';
import { withMcpTools } from '../../mcp-servers/operations/plan-tools.js';
import { choiceFields, resolveStart, type Runnable, type StartRequest } from '../../releases/operations/resolve.js';
import type { DefaultModel } from '../../releases/record.js';
import { executedBy } from '../executed-by.js';
import { actionAgents, decidingAgents, toStepPlans } from '../flow-plan.js';
import { missingVariableProblems } from '../missing-variables.js';
import { ExecutionFile, referToFiles } from '../files.js';
import { readExecution } from './read.js';
import { turnOf } from './turn-of.js';
import { toExecution, type Execution, type ExecutionDocument } from '../record.js';
import { pick } from '../../../base/pick.js';

export const NewExecution = z
  .strictObject({
    projectID: z.string().optional(),
    agentflow_id: z.string(),
    goal: z.string().min(1).max(20_000),
    goal_template: z.unknown().optional(),
    input_variables: z.record(z.string(), z.unknown()).default({}),
    runtime_inputs: z.record(z.string(), z.unknown()).default({}),
    files: z.array(ExecutionFile).max(50).default([]).describe('Documents for the agents.'),
    start_from_agent_id: z.string().nullable().default(null),
    parent_execution_id: z.string().nullable().default(null),
    ...choiceFields,
  })
  .meta({
    id: 'ExecutionInput',
    example: {
      agentflow_id: '0199a6f0-71be-7d02-9a4e-5b1f0c2d3e4f',
      goal: 'Brief the newcomer',
      input_variables: { audience: 'developers' },
    },
  });
export type NewExecution = z.infer<typeof NewExecution>;

/**
 * Creates an execution in status `ready` with its own copy of the release or of the saved agentflow, so that later edits do not
 * affect it.
 * @throws AppError as `resolveStart` and `prepareExecution`
 */
export async function createExecution(
  deps: Deps,
  principal: Principal,
  input: NewExecution,
  { beforeFirstRelease, ...preparation }: Preparation & Pick<StartRequest, 'beforeFirstRelease'>,
): Promise<Execution> {
  const request = { ...startRequestIn(input), beforeFirstRelease };
  const runnable = await resolveStart(deps.mongo.collections, principal, request, preparation.id);
  return prepareExecution(deps, principal, runnable, input, preparation);
}

/** What the input of an execution says about the release to run. */
export function startRequestIn({ agentflow_id, ...input }: NewExecution): Omit<StartRequest, 'beforeFirstRelease'> {
  return { agentflowId: agentflow_id, ...pick(input, 'version', 'channel', 'draft') };
}

interface Preparation {
  id: string;
  lifecycleId?: string;
  scheduleId?: string;
  /** An event of a connector starts the run. */
  isTriggered?: true;
  /** The people who caused the run, in addition to its creator, the editors of the agentflow and those who released it. */
  causedBy?: readonly string[];
  /** What a run inherits whose `flow` step starts it. */
  parent?: { directed_by: string[]; shaped_by: string[]; started_by: StartedBy; parents: string[] };
  /** The run tries a step of this agentflow alone. */
  trial?: Trial;
}

interface Trial {
  of: AgentflowDocument;
  step_id: string;
  given: ExecutionDocument['flow']['given'];
}

type StartedBy = 'person' | 'schedule' | 'trigger';

function starterOf({ scheduleId, isTriggered, parent }: Preparation): StartedBy {
  if (parent) return parent.started_by;
  if (scheduleId !== undefined) return 'schedule';
  return isTriggered ? 'trigger' : 'person';
}

/**
 * Like `createExecution`, for what `resolveStart` has found. `lifecycleId` identifies the governed call.
 * @throws AppError `not_found` (parent), `validation_failed` (no agents, unknown first agent)
 */
export async function prepareExecution(
  deps: Deps,
  principal: Principal,
  runnable: Runnable,
  input: NewExecution,
  preparation: Preparation,
): Promise<Execution> {
  const { id, lifecycleId, scheduleId, parent, trial } = preparation;
  const { agentflow } = runnable;
  const causedBy = [...(preparation.causedBy ?? []), ...runnable.causedBy];
  const { agentflows, executions } = deps.mongo.collections;
  const [executed_by] = await Promise.all([
    executedBy(deps, principal, scheduleId === undefined ? undefined : agentflow.name),
    deps.customers.requireCredits(principal.organizationId),
  ]);
  if (input.parent_execution_id !== null) await readExecution(deps, principal, input.parent_execution_id);
  refuseUnrunnable(agentflow, input, trial);
  await requireInputs(deps, agentflow, input);
  const turn = turnOf(agentflow, input);
  const content = await contentOfRun(deps.mongo.collections, principal, runnable);
  const files = await referToFiles(deps, principal, input.files);
  const record: ExecutionDocument = {
    ...notStarted(id),
    projectID: principal.projectId,
    organization_id: principal.organizationId,
    agentflow_id: agentflow._id,
    ...content,
    flow: {
      ...content.flow,
      started_by: starterOf(preparation),
      ...turn,
      ...(parent && { parents: parent.parents }),
      ...(trial && flowOfTrial(trial, content.flow)),
    },
    caused_by: [...new Set([...content.caused_by, ...causedBy])],
    directed_by: parent?.directed_by ?? [...new Set(causedBy)],
    ...(parent && { shaped_by: parent.shaped_by }),
    parent_execution_id: input.parent_execution_id,
    goal: input.goal,
    goal_template: input.goal_template ?? null,
    schedule: scheduleId ?? null,
    start_from_agent_id: input.start_from_agent_id,
    files,
    input_variables: input.input_variables,
    runtime_inputs: input.runtime_inputs,
    execution_context: {
      ...(lifecycleId !== undefined && { lifecycle_id: lifecycleId }),
      ...(trial && { tried_step: trial.step_id }),
    },
    executed_by,
  };
  const created = await insertOnce(executions, record);
  const last_used = created.created_at;
  await writeTogether(agentflows, { updateOne: { filter: { _id: agentflow._id }, update: { $set: { last_used } } } });
  return toExecution(created);
}

/** The fields of an execution that come from what it runs. */
export async function contentOfRun(
  collections: Collections,
  { projectId }: Principal,
  { agentflow, release, default_model, calls, causedBy }: Runnable,
) {
  const { steps = [] } = agentflow;
  const deciders = decidingAgents(steps).map((agent) => ({ ...agent, llm: llmOf(agent, default_model) }));
  const agents = [
    ...agentflow.agents.map((agent) => toPlan(agent, default_model)),
    ...actionAgents(steps),
    ...deciders,
  ];
  return {
    agentflow: embeddedCopy(agentflow),
    plan: await withAgentflowTools(collections, projectId, await withMcpTools(collections, projectId, agents), calls),
    flow: {
      ...toFlow(agentflow),
      ...(steps.length > 0 && { steps: toStepPlans(steps) }),
      started_by: 'person' as const,
      ...(release && { agentflow_version: release.version }),
    },
    release,
    caused_by: [...agentflow.edited_by, ...causedBy],
  };
}

/** The fields of an execution that has not started. */
export function notStarted(id: string) {
  return {
    _id: id,
    execution_id: id,
    task_id: newId(),
    status: 'ready',
    previews: {},
    agents_output: [],
    anomaly_detected: null,
    conclusion: null,
    created_at: epochSeconds(),
    started_at: null,
    projected_at: null,
    end_time: null,
    steps: [],
    last_event_seq: 0,
    changed_at: Date.now(),
  } as const satisfies Partial<ExecutionDocument>;
}

/** Templates find outputs by id in a flow with steps, even if only one agent of it is tried. */
function flowOfTrial(
  { of, given }: Trial,
  { steps = [] }: Pick<ExecutionDocument['flow'], 'steps'>,
): Pick<ExecutionDocument['flow'], 'given' | 'steps'> {
  return { ...(given && { given }), ...((of.steps ?? []).length > 0 && { steps }) };
}

function refuseUnrunnable(agentflow: AgentflowDocument, input: NewExecution, trial: Trial | undefined): void {
  const { agents } = agentflow;
  // A flow of one step lacks what its expressions name.
  const problems = isEmpty(agentflow) ? ['the agentflow has no agents'] : agentflowProblems(trial?.of ?? agentflow);
  const first = input.start_from_agent_id;
  if (first !== null && !agents.some(({ _id }) => _id === first)) {
    problems.push(`start_from_agent_id: the agentflow has no agent ${JSON.stringify(first)}`);
  }
  if (!agentflow.isActive) problems.push('the agentflow is not active');
  // Requires a valid agentflow, whose prompts can be parsed.
  if (problems.length === 0)
    problems.push(
      ...missingVariableProblems(
        agentflow,
        first ?? agentflow.initialAgent,
        input,
        Object.keys(trial?.given?.names ?? {}),
      ),
    );
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
}

function embeddedCopy(agentflow: AgentflowDocument): ExecutionDocument['agentflow'] {
  const agents = agentflow.agents.map((agent) =>
    pick(agent, '_id', 'llm', 'role', 'role_description', 'title', 'agent_type', 'next_agent'),
  );
  const fields = pick(agentflow, 'image', 'initialAgent', 'name', 'role', 'conclusion');
  const { steps = [] } = agentflow;
  const { input_schema, output_schema } = agentflow;
  return {
    agentflow_id: agentflow._id,
    agents,
    ...(steps.length > 0 && { steps: toStepPlans(steps) }),
    ...fields,
    ...(input_schema && { input_schema }),
    ...(output_schema && { output_schema }),
  };
}

function toFlow({
  anomaly_detection,
  failover_goal,
  initialAgent,
  output_schema,
}: AgentflowDocument): Pick<ExecutionDocument['flow'], 'anomaly_detection' | 'failover' | 'output_schema'> {
  const goal = failoverGoalOf(failover_goal);
  return {
    ...(anomaly_detection.is_enabled && { anomaly_detection: { instructions: anomaly_detection.instructions } }),
    ...(goal !== undefined && { failover: { goal, first_agent_id: initialAgent } }),
    ...(output_schema && { output_schema }),
  };
}

/** Uses only `pre` and `post` of the free-form field, and only if they are objects. */
function toActionInputs(value: unknown): Pick<AgentPlan, 'action_inputs'> {
  const { pre, post }: Record<string, unknown> = isJsonObject(value) ? value : {};
  return { action_inputs: { pre: isJsonObject(pre) ? pre : {}, post: isJsonObject(post) ? post : {} } };
}

/** An agent without a model uses the default model settings of the project (`/v1/save-model`). */
function llmOf({ llm }: Pick<AgentPlan, 'llm'>, models: DefaultModel | null): AgentPlan['llm'] {
  return pick(llm.model === '' && models ? models : llm, 'model', 'temperature', 'max_tokens');
}

function toPlan(agent: AgentflowDocument['agents'][number], models: DefaultModel | null): AgentPlan {
  return {
    ...pick(agent, '_id', 'title', 'role', 'role_description', 'context', 'next_agent'),
    ...pick(agent, 'has_knowledge_base', 'is_preview_mode_enabled'),
    llm: llmOf(agent, models),
    prompt: pick(agent.prompt, 'template', 'variables'),
    ...pick(agent, 'max_turns', 'max_total_tokens', 'preview_timeout_seconds'),
    ...toActionInputs(agent.pre_and_post_execution_input),
    ...(agent.output_schema && { output_schema: agent.output_schema }),
    skills: agent.skills.map((skill) => ({
      _id: skill._id,
      name: skill.name,
      connector_id: skill.connector_id,
      initial_action_id: skill.initial_action_id,
      actions: skill.actions.map(({ sort: _sort, previous_action_id: _previous, ...action }) => action),
    })),
  };
}
