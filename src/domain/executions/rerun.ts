import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import type { Deps } from '../deps.js';
import { AppError } from '../../base/errors.js';
import { insertOnce } from '../../stores/insert-once.js';
import { keptFrom } from './earlier-run.js';
import { executedBy } from './executed-by.js';
import { isInSlice, keptBefore, placeMeant } from './kept.js';
import { missingVariableProblems } from './missing-variables.js';
import { contentOfRun, NewExecution, notStarted } from './operations/create.js';
import { choiceFields, refuseDraft, resolveStart, type StartRequest } from '../releases/operations/resolve.js';
import { pick } from '../../base/pick.js';
import { readExecution } from './operations/read.js';
import { refuseSlice, runOfPath } from './slices.js';
import { requireInputs } from '../agentflows/operations/schemas.js';
import { turnOf } from './operations/turn-of.js';
import { isDraft, isOver, toExecution, type Execution, type ExecutionDocument } from './record.js';

const Values = z.record(z.string(), z.unknown());

export const RerunRequest = z
  .strictObject({
    projectID: z.string().optional(),
    execution_id: z.string().optional(),
    from_agent_id: z
      .string()
      .max(4000)
      .nullish()
      .describe(
        'The agent or step to start from, in a part of a step after its path: `each/17/price`. What has ended before it, and in the other parts, is kept. If omitted, everything runs again that the source itself has run.',
      ),
    goal: NewExecution.shape.goal.optional().describe('Replaces the goal of the source.'),
    input_variables: Values.optional().describe('Replaces all input variables of the source.'),
    runtime_inputs: Values.optional().describe('Replaces all runtime inputs of the source.'),
    reason: z.string().max(500).optional().describe('Shown as `execution_context.rerun_reason`.'),
    version: choiceFields.version.describe('Another release to run. By default that of the source, or its draft.'),
    channel: choiceFields.channel,
    draft: choiceFields.draft.describe('Runs the agentflow as it is saved now. Excludes `version` and `channel`.'),
  })
  .meta({ id: 'RerunRequest', example: { from_agent_id: 'writer', input_variables: { audience: 'operators' } } });
export type RerunRequest = z.infer<typeof RerunRequest>;

/** The release that a rerun takes instead of that of its source. */
export function otherRelease(agentflowId: string, request: RerunRequest): StartRequest | undefined {
  const choice = pick(request, 'version', 'channel', 'draft');
  const isNamed = choice.version !== undefined || choice.channel !== undefined || choice.draft === true;
  return isNamed ? { agentflowId, beforeFirstRelease: 'is refused', ...choice } : undefined;
}

/**
 * Creates an execution with the plan, goal and inputs of one that has ended, unless the request has others.
 * @throws AppError `not_found`, `conflict` (not ended), `validation_failed` (unknown agent or step, one that the source has not reached, or a
 *   prompt needs a variable that is missing)
 */
export async function rerun(
  deps: Deps,
  principal: Principal,
  sourceId: string,
  request: RerunRequest,
  id: string,
): Promise<Execution> {
  const { from_agent_id, goal, input_variables, runtime_inputs, reason } = request;
  const source = await sourceOf(deps, principal, sourceId, { request, id });
  refuseSlice(source, 'rerun');
  if (!isOver(source.status))
    throw new AppError('conflict', `the execution is ${source.status}: only an execution that has ended can be rerun`);
  const { start_from_agent_id, steps, agents_output } = keptOf(source, from_agent_id ?? null);
  if (start_from_agent_id !== null) await requireReached(deps, source, start_from_agent_id);
  const inputs = {
    goal: goal ?? source.goal,
    input_variables: input_variables ?? source.input_variables,
    runtime_inputs: runtime_inputs ?? source.runtime_inputs,
  };
  const [firstId = ''] = (start_from_agent_id ?? source.agentflow.initialAgent).split('/');
  const isEdited = [goal, input_variables, runtime_inputs, request.version, request.channel, request.draft].some(
    (value) => value !== undefined,
  );
  const problems = isEdited
    ? missingVariableProblems({ agents: source.plan, steps: source.flow.steps }, firstId, inputs)
    : [];
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  if (isEdited) await requireInputs(deps, { ...source.agentflow, organization_id: source.organization_id }, inputs);
  const saved = await deps.mongo.collections.agentflows.findOne(
    { _id: source.agentflow_id },
    { projection: { concurrency: 1 } },
  );
  const turn = turnOf(saved, inputs);
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
    execution_context: {
      rerun_of: sourceId,
      ...(reason !== undefined && { rerun_reason: reason }),
      ...pick(source.execution_context, 'tried_step'),
    },
    steps: steps.map((step) => keptFrom(step, sourceId)),
    agents_output: agents_output.map((output) => keptFrom(output, sourceId)),
    moved_seq: null,
    executed_by: await executedBy(deps, principal),
  };
  return toExecution(await insertOnce(deps.mongo.collections.executions, record));
}

/** The execution to run again, with the content of another release if the request names one. */
async function sourceOf(
  deps: Deps,
  principal: Principal,
  sourceId: string,
  { request, id }: { request: RerunRequest; id: string },
): Promise<ExecutionDocument> {
  const source = await readExecution(deps, principal, sourceId);
  const other = otherRelease(source.agentflow_id, request);
  if (!other && isDraft(source)) await refuseDraft(deps.mongo.collections, principal.projectId);
  if (!other) return source;
  const { collections } = deps.mongo;
  const runnable = await resolveStart(collections, principal, other, id);
  const content = await contentOfRun(collections, principal, runnable);
  const caused_by = [...new Set([...source.caused_by, ...content.caused_by])];
  const directed_by = [...new Set([...source.directed_by, ...runnable.causedBy])];
  return { ...source, ...content, caused_by, directed_by };
}

/** The record of a slice knows whether the run has reached a place in its items. @throws AppError `validation_failed` */
async function requireReached({ mongo }: Deps, source: ExecutionDocument, place: string): Promise<void> {
  const { record, path } = await runOfPath(mongo.collections.executions, source, place);
  if (record !== source) keptBefore(record, placeMeant(record, path));
  else if (isInSlice(source, place))
    throw new AppError('validation_failed', `from_agent_id: the execution has never reached ${place}`);
}

/** What the rerun keeps. Without `from`, that is what the source has kept itself. */
function keptOf(
  source: ExecutionDocument,
  from: string | null,
): Pick<ExecutionDocument, 'start_from_agent_id' | 'steps' | 'agents_output'> {
  const isKept = ({ kept_from }: { kept_from?: string | undefined }) => kept_from !== undefined;
  const { start_from_agent_id: own } = source;
  const earlier =
    from === null
      ? {
          ...source,
          steps: source.steps.filter(isKept),
          agents_output: source.agents_output.filter(isKept),
          execution_context: {},
        }
      : source;
  const place = from === null ? own : placeMeant(source, from);
  if (place === null) return { start_from_agent_id: null, steps: [], agents_output: [] };
  const { steps, outputs } = keptBefore(earlier, place);
  return { start_from_agent_id: place, steps, agents_output: outputs };
}
