import { z } from 'zod';
import type { AgentPlan } from '../../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import { newId } from '../../../ids.js';
import { insertOnce } from '../../../stores/mongo.js';
import type { ProjectModelDocument } from '../../../stores/project-models.js';
import { epochSeconds } from '../../../time.js';
import type { AgentflowDocument } from '../agentflows/schemas.js';
import { failoverGoalOf, problemsOf } from '../agentflows/checks.js';
import { readAgentflow } from '../agentflows/store.js';
import { missingVariableProblems } from './missing-variables.js';
import { ExecutionFile, referToFiles } from './files.js';
import { readExecution } from './read.js';
import { toExecution, type Execution, type ExecutionDocument } from './record.js';

export const NewExecution = z
  .strictObject({
    projectID: z.string().optional(),
    agentflow_id: z.string(),
    goal: z.string().min(1).max(20_000),
    goal_template: z.unknown().optional(),
    input_variables: z.record(z.string(), z.unknown()).default({}),
    runtime_inputs: z.record(z.string(), z.unknown()).default({}),
    files: z.array(ExecutionFile).max(50).default([]).meta({ description: 'Documents that the agents read.' }),
    start_from_agent_id: z.string().nullable().default(null),
    parent_execution_id: z.string().nullable().default(null),
  })
  .meta({ id: 'NewExecution', example: { agentflow_id: '0199a6f0-71be-7d02-9a4e-5b1f0c2d3e4f', goal: 'Brief the newcomer', input_variables: { audience: 'developers' } } });
export type NewExecution = z.infer<typeof NewExecution>;

/**
 * Prepares an execution in `ready` with its own copy of the agentflow, so that later edits do not reach it.
 * @throws AppError `not_found` (agentflow, parent), `validation_failed` (nothing to run, unknown first agent)
 */
export async function createExecution(deps: Deps, principal: Principal, input: NewExecution, id: string): Promise<Execution> {
  const agentflow = await readAgentflow(deps.mongo.collections, principal, input.agentflow_id);
  return prepareExecution(deps, principal, agentflow, input, { id });
}

/** The same for a version of an agentflow that is given; `lifecycleId` is the governed call that asked for it. */
export async function prepareExecution(
  deps: Deps,
  principal: Principal,
  agentflow: AgentflowDocument,
  input: NewExecution,
  { id, lifecycleId, scheduleId }: { id: string; lifecycleId?: string; scheduleId?: string },
): Promise<Execution> {
  const { agentflows, executions, project_models } = deps.mongo.collections;
  await deps.customers.requireCredits(principal.organizationId);
  const models = await project_models.findOne({ _id: principal.projectId });
  if (input.parent_execution_id !== null) await readExecution(deps, principal, input.parent_execution_id);
  refuseWhatCannotRun(agentflow, input);
  const files = await referToFiles(deps, principal, input.files);
  const record: ExecutionDocument = {
    _id: id,
    execution_id: id,
    projectID: principal.projectId,
    organization_id: principal.organizationId,
    agentflow_id: agentflow._id,
    agentflow: embeddedCopy(agentflow),
    plan: agentflow.agents.map((agent) => toPlan(agent, models)),
    flow: toFlow(agentflow),
    task_id: newId(),
    parent_execution_id: input.parent_execution_id,
    goal: input.goal,
    goal_template: input.goal_template ?? null,
    schedule: scheduleId ?? null,
    start_from_agent_id: input.start_from_agent_id,
    files,
    input_variables: input.input_variables,
    runtime_inputs: input.runtime_inputs,
    execution_context: lifecycleId === undefined ? {} : { lifecycle_id: lifecycleId },
    previews: {},
    agents_output: [],
    anomaly_detected: null,
    conclusion: null,
    created_at: epochSeconds(),
    started_at: null,
    end_time: null,
    executed_by: { _id: principal.userId, metadata: null, name: principal.userId, type: scheduleId === undefined ? 'manual' : 'schedule' },
    status: 'ready',
    steps: [],
    last_event_seq: 0,
  };
  const made = await insertOnce(executions, record);
  await agentflows.updateOne({ _id: agentflow._id }, { $set: { last_used: made.created_at } });
  return toExecution(made);
}

function refuseWhatCannotRun(agentflow: AgentflowDocument, input: NewExecution): void {
  const problems = agentflow.agents.length === 0 ? ['the agentflow has no agents'] : problemsOf(agentflow);
  const first = input.start_from_agent_id;
  if (first !== null && !agentflow.agents.some(({ _id }) => _id === first)) {
    problems.push(`start_from_agent_id: the agentflow has no agent ${first}`);
  }
  if (!agentflow.isActive) problems.push('the agentflow is not active');
  // Only of a flow that hangs together: its prompts can be parsed.
  if (problems.length === 0) problems.push(...missingVariableProblems(agentflow, first ?? agentflow.initialAgent, input));
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
}

function embeddedCopy(agentflow: AgentflowDocument): ExecutionDocument['agentflow'] {
  const { _id, agents, image, initialAgent, name, role, conclusion } = agentflow;
  const copies = agents.map((agent) => ({
    _id: agent._id,
    llm: agent.llm,
    role: agent.role,
    role_description: agent.role_description,
    title: agent.title,
    agent_type: agent.agent_type,
    next_agent: agent.next_agent,
  }));
  return { agentflow_id: _id, agents: copies, image, initialAgent, name, role, conclusion };
}

function toFlow({ anomaly_detection, failover_goal, initialAgent }: AgentflowDocument): NonNullable<ExecutionDocument['flow']> {
  const goal = failoverGoalOf(failover_goal);
  return {
    ...(anomaly_detection.is_enabled && { anomaly_detection: { instructions: anomaly_detection.instructions } }),
    ...(goal !== undefined && { failover: { goal, first_agent_id: initialAgent } }),
  };
}

/** Only `pre` and `post` of the free field are used, and only as objects. */
function toActionInputs(value: unknown): Pick<AgentPlan, 'action_inputs'> {
  const { pre, post } = objectOr(value, {});
  return { action_inputs: { pre: objectOr(pre, {}), post: objectOr(post, {}) } };
}

function objectOr(value: unknown, otherwise: Record<string, unknown>): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : otherwise;
}

function toBounds({ max_turns, max_total_tokens, preview_timeout_seconds }: AgentflowDocument['agents'][number]): Partial<AgentPlan> {
  return {
    ...(max_turns !== undefined && { max_turns }),
    ...(max_total_tokens !== undefined && { max_total_tokens }),
    ...(preview_timeout_seconds !== undefined && { preview_timeout_seconds }),
  };
}

/** An agent that names no model takes the project's default settings (`/v1/save-model`). */
function toPlan(agent: AgentflowDocument['agents'][number], models: ProjectModelDocument | null): AgentPlan {
  const { _id, title, role, role_description, context, next_agent } = agent;
  const { model, temperature, max_tokens } = agent.llm.model === '' && models ? models : agent.llm;
  const llm = { model, temperature, max_tokens };
  return {
    _id,
    title,
    role,
    role_description,
    llm,
    context,
    next_agent,
    prompt: { template: agent.prompt.template, variables: agent.prompt.variables },
    has_knowledge_base: agent.has_knowledge_base,
    is_preview_mode_enabled: agent.is_preview_mode_enabled,
    ...toBounds(agent),
    ...toActionInputs(agent.pre_and_post_execution_input),
    skills: agent.skills.map((skill) => ({
      _id: skill._id,
      name: skill.name,
      connector_id: skill.connector_id,
      initial_action_id: skill.initial_action_id,
      actions: skill.actions.map(({ _id: actionId, name, description, category, method, endpoint, is_terminal, next_action_id, input_schema, output_schema }) => ({
        _id: actionId,
        name,
        description,
        category,
        method,
        endpoint,
        is_terminal,
        next_action_id,
        input_schema,
        output_schema,
      })),
    })),
  };
}
