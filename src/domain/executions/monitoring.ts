import { z } from 'zod';
import { executionWorkflowId } from '../../../workflows/agentflow-execution/messages.js';
import type { StepRecord } from '../../../workflows/agentflow-execution/step-record.js';
import type { Principal } from '../../auth/principal.js';
import { chargeOf } from '../customers/operations/run-credits.js';
import type { Deps } from '../deps.js';
import { describeRun, pendingStep, withPending } from './pending-step.js';
import { readLiveState, readExecution } from './operations/read.js';
import { isOnPath, rootOf, runOfPath } from './slices.js';
import { Execution, FlowPath, toExecution } from './record.js';
import { pick } from '../../base/pick.js';
import { Id, exampleId } from '../../base/ids.js';
import { EpochSeconds } from '../../base/time.js';

const Attempt = z.object({
  attempt: z.int().meta({ example: 1 }),
  started_at: EpochSeconds,
  ended_at: EpochSeconds.nullable(),
  error: z.string().nullable().meta({ example: null }),
});

export const Step = z.object({
  step_id: z.string().meta({ example: 'reader:1' }),
  kind: z.string().meta({ example: 'action' }),
  agent_id: z.string().describe('Empty for a step without an agent.').meta({ example: 'reader' }),
  path: FlowPath,
  output: z
    .unknown()
    .optional()
    .describe('What a step of the flow returned that is not an agent. Absent if it is longer than 64 KiB.'),
  skill_id: Id.nullable(),
  action_id: z.string().nullable().meta({ example: 'look_up' }),
  name: z.string().meta({ example: 'Look up the claim' }),
  status: z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled']),
  attempts: z.int().meta({ example: 1 }),
  started_at: EpochSeconds,
  ended_at: EpochSeconds.nullable(),
  error: z.string().nullable().meta({ example: null }),
  attempt_details: z
    .array(Attempt)
    .optional()
    .describe('The last 20 attempts of a step that is running, has failed, or needed several attempts.'),
  edited_fields: z
    .array(z.string())
    .optional()
    .describe('The fields of the act that an approver edited.')
    .meta({ example: ['text'] }),
  kept_from: Id.optional().describe('In a rerun, the execution in which the step ran.'),
});

export const Monitoring = z
  .object({
    execution_id: Id,
    status: z.string().meta({ example: 'running' }),
    workflow_id: z.string().meta({ example: executionWorkflowId(exampleId) }),
    run_id: Id.nullable().describe('Null until the execution is started.'),
    temporal_ui_url: z.string().nullable().meta({ example: 'https://temporal.acme.dev/namespaces/default/workflows' }),
    credits: z
      .number()
      .nullable()
      .describe('What the run was charged. Null until about a second after its start.')
      .meta({ example: 1 }),
    waiting_for: z
      .unknown()
      .describe('What the run waits for: a person or its turn, like `execution_context.waiting_for`. Otherwise null.')
      .meta({ example: null }),
    ...pick(Execution.shape, 'draft', 'release'),
    steps: z.array(Step),
  })
  .meta({ id: 'ExecutionMonitoring' });

/** The steps of a run, or only those on a path, including the attempts of the current step according to Temporal. */
export async function monitor(
  deps: Deps,
  principal: Principal,
  executionId: string,
  wanted?: string,
): Promise<z.infer<typeof Monitoring>> {
  const named = await readExecution(deps, principal, executionId);
  const { record: found, path } = await runOfPath(deps.mongo.collections.executions, named, wanted ?? '');
  const id = found._id;
  const description = await describeRun(deps, id);
  const { record, live } = await readLiveState(deps, found, description);
  const [pending, credits] = await Promise.all([
    pendingStep(deps, description),
    chargeOf(deps.mongo.collections, rootOf(found)),
  ]);
  const execution = toExecution(record, live);
  const workflowId = executionWorkflowId(id);
  const runId = description?.runId ?? null;
  return {
    execution_id: id,
    status: live?.status ?? record.status,
    workflow_id: workflowId,
    run_id: runId,
    temporal_ui_url: runId === null ? null : deps.temporal.uiLink(workflowId, runId),
    credits,
    waiting_for: execution.execution_context.waiting_for ?? null,
    ...pick(execution, 'draft', 'release'),
    steps: (live?.steps ?? record.steps)
      .filter((step) => isOnPath(step, path))
      .map((step) => withPending(withoutLongOutput(step), pending)),
  };
}

/** Longer outputs are not shown, in characters of JSON. */
const maxShownLength = 65_536;

function withoutLongOutput(step: StepRecord): StepRecord {
  const { output, ...rest } = step;
  return (JSON.stringify(output)?.length ?? 0) > maxShownLength ? rest : step;
}
