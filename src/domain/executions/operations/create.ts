import { isJsonObject } from '../../../base/json.js';
import { z } from 'zod';
import type { AgentPlan } from '../../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../deps.js';
import { AppError } from '../../../base/errors.js';
import { newId } from '../../../base/ids.js';
import { readFresh } from '../../../stores/fresh-reads.js';
import { writeTogether } from '../../../stores/grouped-writes.js';
import { insertOnce } from '../../../stores/insert-once.js';
import type { ProjectModelDocument } from '../../../stores/project-models.js';
import { epochSeconds } from '../../../base/time.js';
import type { AgentflowDocument } from '../../agentflows/record.js';
import { failoverGoalOf, agentflowProblems, isEmpty } from '../../agentflows/rules.js';
import { findAgentflow } from '../../agentflows/operations/store.js';
import { withMcpTools } from '../../mcp-servers/operations/plan-tools.js';
import { executedBy } from '../executed-by.js';
import { actionAgents, toStepPlans } from '../flow-plan.js';
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
 * Creates an execution in status `ready` with its own copy of the agentflow, so that later edits do not affect it.
 * @throws AppError `not_found` (agentflow, parent), `validation_failed` (no agents, unknown first agent)
 */
export async function createExecution(
  deps: Deps,
  principal: Principal,
  input: NewExecution,
  preparation: Preparation,
): Promise<Execution> {
  const agentflow = await findAgentflow(deps.mongo.collections, principal, input.agentflow_id);
  return prepareExecution(deps, principal, agentflow, input, preparation);
}

interface Preparation {
  id: string;
  lifecycleId?: string;
  scheduleId?: string;
  /** An event of a connector starts the run. */
  isTriggered?: true;
  /** The promoted version. */
  version?: number;
  /** The people who caused the run, in addition to its creator and the editors of the agentflow. */
  causedBy?: readonly string[];
  /** What a run inherits whose `flow` step starts it. */
  parent?: { directed_by: string[]; shaped_by: string[]; started_by: StartedBy; depth: number };
}

type StartedBy = 'person' | 'schedule' | 'trigger';

function starterOf({ scheduleId, isTriggered, parent }: Preparation): StartedBy {
  if (parent) return parent.started_by;
  if (scheduleId !== undefined) return 'schedule';
  return isTriggered ? 'trigger' : 'person';
}

/** Like `createExecution`, for a given version of an agentflow. `lifecycleId` identifies the governed call. */
export async function prepareExecution(
  deps: Deps,
  principal: Principal,
  agentflow: AgentflowDocument,
  input: NewExecution,
  preparation: Preparation,
): Promise<Execution> {
  const { id, lifecycleId, scheduleId, version, causedBy = [], parent } = preparation;
  const { agentflows, executions, project_models } = deps.mongo.collections;
  const { steps = [] } = agentflow;
  const [models, executed_by] = await Promise.all([
    readFresh(project_models, principal.projectId),
    executedBy(deps, principal, scheduleId === undefined ? undefined : agentflow.name),
    deps.customers.requireCredits(principal.organizationId),
  ]);
  if (input.parent_execution_id !== null) await readExecution(deps, principal, input.parent_execution_id);
  refuseUnrunnable(agentflow, input);
  const turn = await turnOf(deps.mongo.collections, version === undefined ? agentflow : agentflow._id, input);
  const plan = await withMcpTools(deps.mongo.collections, principal.projectId, [
    ...agentflow.agents.map((agent) => toPlan(agent, models)),
    ...actionAgents(steps),
  ]);
  const files = await referToFiles(deps, principal, input.files);
  const record: ExecutionDocument = {
    ...notStarted(id),
    projectID: principal.projectId,
    organization_id: principal.organizationId,
    agentflow_id: agentflow._id,
    agentflow: embeddedCopy(agentflow),
    plan,
    flow: {
      ...toFlow(agentflow),
      ...(steps.length > 0 && { steps: toStepPlans(steps) }),
      started_by: starterOf(preparation),
      ...turn,
      ...(version !== undefined && { agentflow_version: version }),
      ...(parent && { depth: parent.depth }),
    },
    caused_by: [...new Set([...agentflow.edited_by, ...causedBy])],
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
    execution_context: lifecycleId === undefined ? {} : { lifecycle_id: lifecycleId },
    executed_by,
  };
  const created = await insertOnce(executions, record);
  const last_used = created.created_at;
  await writeTogether(agentflows, { updateOne: { filter: { _id: agentflow._id }, update: { $set: { last_used } } } });
  return toExecution(created);
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

function refuseUnrunnable(agentflow: AgentflowDocument, input: NewExecution): void {
  const { agents } = agentflow;
  const problems = isEmpty(agentflow) ? ['the agentflow has no agents'] : agentflowProblems(agentflow);
  const first = input.start_from_agent_id;
  if (first !== null && !agents.some(({ _id }) => _id === first)) {
    problems.push(`start_from_agent_id: the agentflow has no agent ${JSON.stringify(first)}`);
  }
  if (!agentflow.isActive) problems.push('the agentflow is not active');
  // Requires a valid agentflow, whose prompts can be parsed.
  if (problems.length === 0)
    problems.push(...missingVariableProblems(agentflow, first ?? agentflow.initialAgent, input));
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
}

function embeddedCopy(agentflow: AgentflowDocument): ExecutionDocument['agentflow'] {
  const agents = agentflow.agents.map((agent) =>
    pick(agent, '_id', 'llm', 'role', 'role_description', 'title', 'agent_type', 'next_agent'),
  );
  const fields = pick(agentflow, 'image', 'initialAgent', 'name', 'role', 'conclusion');
  const { steps = [] } = agentflow;
  return { agentflow_id: agentflow._id, agents, ...(steps.length > 0 && { steps: toStepPlans(steps) }), ...fields };
}

function toFlow({
  anomaly_detection,
  failover_goal,
  initialAgent,
}: AgentflowDocument): Pick<ExecutionDocument['flow'], 'anomaly_detection' | 'failover'> {
  const goal = failoverGoalOf(failover_goal);
  return {
    ...(anomaly_detection.is_enabled && { anomaly_detection: { instructions: anomaly_detection.instructions } }),
    ...(goal !== undefined && { failover: { goal, first_agent_id: initialAgent } }),
  };
}

/** Uses only `pre` and `post` of the free-form field, and only if they are objects. */
function toActionInputs(value: unknown): Pick<AgentPlan, 'action_inputs'> {
  const { pre, post }: Record<string, unknown> = isJsonObject(value) ? value : {};
  return { action_inputs: { pre: isJsonObject(pre) ? pre : {}, post: isJsonObject(post) ? post : {} } };
}

/** An agent without a model uses the default model settings of the project (`/v1/save-model`). */
function toPlan(agent: AgentflowDocument['agents'][number], models: ProjectModelDocument | null): AgentPlan {
  return {
    ...pick(agent, '_id', 'title', 'role', 'role_description', 'context', 'next_agent'),
    ...pick(agent, 'has_knowledge_base', 'is_preview_mode_enabled'),
    llm: pick(agent.llm.model === '' && models ? models : agent.llm, 'model', 'temperature', 'max_tokens'),
    prompt: pick(agent.prompt, 'template', 'variables'),
    ...pick(agent, 'max_turns', 'max_total_tokens', 'preview_timeout_seconds'),
    ...toActionInputs(agent.pre_and_post_execution_input),
    skills: agent.skills.map((skill) => ({
      _id: skill._id,
      name: skill.name,
      connector_id: skill.connector_id,
      initial_action_id: skill.initial_action_id,
      actions: skill.actions.map(({ sort: _sort, previous_action_id: _previous, ...action }) => action),
    })),
  };
}
