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
import { problemsOf } from '../agentflows/checks.js';
import { readAgentflow } from '../agentflows/store.js';
import { missingVariableProblems } from './missing-variables.js';
import { readExecution } from './read.js';
import { toExecution, type Execution, type ExecutionDocument } from './record.js';

const InlineFile = z.strictObject({
  name: z.string().min(1).max(255),
  mime_type: z.string().max(255).default('text/plain'),
  content: z.string(),
});

export const NewExecution = z
  .strictObject({
    projectID: z.string().optional(),
    agentflow_id: z.string(),
    goal: z.string().min(1).max(20_000),
    goal_template: z.unknown().optional(),
    input_variables: z.record(z.string(), z.unknown()).default({}),
    runtime_inputs: z.record(z.string(), z.unknown()).default({}),
    files: z.array(InlineFile).max(50).default([]).meta({ description: 'Documents that the agents read.' }),
    start_from_agent_id: z.string().nullable().default(null),
    parent_execution_id: z.string().nullable().default(null),
  })
  .meta({ id: 'NewExecution', example: { agentflow_id: '0198…', goal: 'Brief the newcomer', input_variables: { audience: 'developers' } } });
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
  { id, lifecycleId }: { id: string; lifecycleId?: string },
): Promise<Execution> {
  const { agentflows, executions, project_models } = deps.mongo.collections;
  const models = await project_models.findOne({ _id: principal.projectId });
  if (input.parent_execution_id !== null) await readExecution(deps, principal, input.parent_execution_id);
  refuseWhatCannotRun(agentflow, input);
  const files = await Promise.all(
    input.files.map(async ({ name, mime_type, content }) => ({ name, mime_type, location: await deps.blobs.put(Buffer.from(content)) })),
  );
  const record: ExecutionDocument = {
    _id: id,
    execution_id: id,
    projectID: principal.projectId,
    organization_id: principal.organizationId,
    agentflow_id: agentflow._id,
    agentflow: embeddedCopy(agentflow),
    plan: agentflow.agents.map((agent) => toPlan(agent, models)),
    task_id: newId(),
    parent_execution_id: input.parent_execution_id,
    goal: input.goal,
    goal_template: input.goal_template ?? null,
    schedule: null,
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
    executed_by: { _id: principal.userId, metadata: null, name: principal.userId, type: 'manual' },
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
    skills: agent.skills.map((skill) => ({
      _id: skill._id,
      name: skill.name,
      initial_action_id: skill.initial_action_id,
      actions: skill.actions.map(({ _id: actionId, name, category, method, endpoint, is_terminal, next_action_id, input_schema, output_schema }) => ({
        _id: actionId,
        name,
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
