import { z } from 'zod';
import type { AgentPlan } from '../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../auth/principal.js';
import type { Deps } from '../deps.js';
import { AppError } from '../../base/errors.js';
import { insertOnce } from '../../stores/insert-once.js';
import { executedBy } from './executed-by.js';
import { missingVariableProblems } from './missing-variables.js';
import { NewExecution, notStarted } from './operations/create.js';
import { readExecution } from './operations/read.js';
import { turnOf } from './operations/turn-of.js';
import { isOver, toExecution, type Execution, type ExecutionDocument } from './record.js';

const Values = z.record(z.string(), z.unknown());

export const RerunRequest = z
  .strictObject({
    projectID: z.string().optional(),
    execution_id: z.string().optional(),
    from_agent_id: z
      .string()
      .nullish()
      .describe(
        'The agent to start from; the outputs of the agents before it are kept. If omitted, all agents run again.',
      ),
    goal: NewExecution.shape.goal.optional().describe('Replaces the goal of the source.'),
    input_variables: Values.optional().describe('Replaces all input variables of the source.'),
    runtime_inputs: Values.optional().describe('Replaces all runtime inputs of the source.'),
    reason: z.string().max(500).optional().describe('Shown as `execution_context.rerun_reason`.'),
  })
  .meta({ id: 'RerunRequest', example: { from_agent_id: 'writer', input_variables: { audience: 'operators' } } });
export type RerunRequest = z.infer<typeof RerunRequest>;

/**
 * Creates an execution with the plan, goal and inputs of one that has ended, unless the request has others.
 * @throws AppError `not_found`, `conflict` (not ended), `validation_failed` (unknown agent, an earlier agent has no output, or a
 *   prompt needs a variable that is missing)
 */
export async function rerun(
  deps: Deps,
  principal: Principal,
  sourceId: string,
  { from_agent_id, goal, input_variables, runtime_inputs, reason }: RerunRequest,
  id: string,
): Promise<Execution> {
  const source = await readExecution(deps, principal, sourceId);
  if (!isOver(source.status))
    throw new AppError('conflict', `the execution is ${source.status}: only an execution that has ended can be rerun`);
  const fromAgentId = from_agent_id ?? null;
  if (fromAgentId !== null && source.flow.steps)
    throw new AppError(
      'validation_failed',
      'from_agent_id: a flow with steps can only run again as a whole; leave this field out',
    );
  const kept =
    fromAgentId === null
      ? source.agents_output.filter(({ kept_from }) => kept_from !== undefined)
      : outputsBefore(source, fromAgentId);
  const inputs = {
    goal: goal ?? source.goal,
    input_variables: input_variables ?? source.input_variables,
    runtime_inputs: runtime_inputs ?? source.runtime_inputs,
  };
  const start_from_agent_id = fromAgentId ?? source.start_from_agent_id;
  const firstAgentId = start_from_agent_id ?? source.agentflow.initialAgent;
  const isEdited = goal !== undefined || input_variables !== undefined || runtime_inputs !== undefined;
  const problems = isEdited
    ? missingVariableProblems({ agents: source.plan, steps: source.flow.steps }, firstAgentId, inputs)
    : [];
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  const turn = await turnOf(deps.mongo.collections, source.agentflow_id, inputs);
  await deps.customers.requireCredits(principal.organizationId);
  const { turn: _turn, ...flow } = source.flow;
  const record: ExecutionDocument = {
    ...source,
    ...inputs,
    flow: { ...flow, started_by: 'person', ...turn },
    // The kept outputs contain what they edited.
    shaped_by: source.shaped_by ?? [],
    caused_by: [...new Set([...source.caused_by, source.executed_by._id])],
    directed_by: [...new Set([...source.directed_by, source.executed_by._id])],
    ...notStarted(id),
    parent_execution_id: null,
    schedule: null,
    start_from_agent_id,
    execution_context: { rerun_of: sourceId, ...(reason !== undefined && { rerun_reason: reason }) },
    agents_output: kept.map((output) => ({ ...output, kept_from: output.kept_from ?? sourceId })),
    moved_seq: null,
    executed_by: await executedBy(deps, principal),
  };
  return toExecution(await insertOnce(deps.mongo.collections.executions, record));
}

/** The last output of each agent before `fromAgentId`. Every agent that the source ran must have one. */
function outputsBefore(source: ExecutionDocument, fromAgentId: string): ExecutionDocument['agents_output'] {
  const { plan, agentflow, start_from_agent_id, agents_output } = source;
  if (!plan.some(({ _id }) => _id === fromAgentId))
    throw new AppError('validation_failed', `from_agent_id: the execution has no agent ${fromAgentId}`);
  const path = pathTo(plan, agentflow.initialAgent, fromAgentId);
  const needed = new Set(pathTo(plan, start_from_agent_id ?? agentflow.initialAgent, fromAgentId));
  return path.flatMap((agentId) => {
    const output = agents_output.findLast(({ agent_id }) => agent_id === agentId);
    if (!output && needed.has(agentId)) {
      throw new AppError(
        'validation_failed',
        `from_agent_id: the earlier agent ${agentId} has no output in this execution`,
      );
    }
    return output ? [output] : [];
  });
}

/** The agents from `first` up to, but not including, `last`. Empty if there is no path. */
function pathTo(plan: readonly AgentPlan[], first: string, last: string): string[] {
  const path: string[] = [];
  for (let at: string | null | undefined = first; at !== last; at = plan.find(({ _id }) => _id === at)?.next_agent) {
    if (typeof at !== 'string' || path.length > plan.length) return [];
    path.push(at);
  }
  return path;
}
