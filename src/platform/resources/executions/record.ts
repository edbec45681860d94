import { z } from 'zod';
import type { AgentflowExecutionInput, StepRecord, AgentPlan, ExecutionState } from '../../../../workflows/agentflow-execution/messages.js';
import { viewOf } from '../../../../workflows/agentflow-execution/view.js';

const Status = z.enum(['ready', 'running', 'paused', 'completed', 'failed']);

const EmbeddedAgent = z.object({
  _id: z.string(),
  llm: z.object({ model: z.string(), temperature: z.number(), max_tokens: z.int() }),
  role: z.string(),
  role_description: z.string(),
  title: z.string(),
  agent_type: z.string(),
  next_agent: z.string().nullable(),
});

const AgentOutput = z.object({
  agent_id: z.string(),
  title: z.string(),
  model: z.string(),
  output: z.string(),
  actions: z.array(z.object({ action_id: z.string(), skill_id: z.string(), name: z.string(), output: z.unknown() })),
  usage: z.object({ input_tokens: z.number(), output_tokens: z.number() }),
  started_at: z.number(),
  ended_at: z.number(),
  kept_from: z.string().optional().meta({ description: 'In a rerun, the execution that the output was taken from.' }),
});

const Preview = z
  .object({
    preview_id: z.string(),
    agent_id: z.string(),
    title: z.string(),
    status: z.enum(['waiting', 'approved', 'edited', 'rejected', 'expired']),
    kind: z.enum(['actions', 'output']),
    proposed: z.unknown().meta({ description: 'The actions with their inputs, or `{output}`.' }),
    edits: z.unknown(),
    requested_at: z.number(),
    expires_at: z.number(),
    decided_by: z.string().nullable(),
    decided_at: z.number().nullable(),
  })
  .meta({ id: 'Preview' });

const Anomaly = z.object({ agent_id: z.string(), finding: z.string(), at: z.number() });

const Conclusion = z.object({ conclusion: z.string(), links: z.array(z.string()), created_at: z.number() });

/** An execution as the API shows it (specification, Execution). Times are epoch seconds. */
export const Execution = z
  .object({
    _id: z.string(),
    execution_id: z.uuid(),
    projectID: z.string(),
    agentflow_id: z.string(),
    agentflow: z.object({
      agentflow_id: z.string(),
      agents: z.array(EmbeddedAgent),
      image: z.string(),
      initialAgent: z.string(),
      name: z.string(),
      role: z.string(),
      conclusion: z.unknown(),
    }),
    task_id: z.string(),
    parent_execution_id: z.string().nullable(),
    goal: z.string(),
    goal_template: z.unknown(),
    schedule: z.unknown(),
    start_from_agent_id: z.string().nullable(),
    files: z.array(z.object({ name: z.string(), mime_type: z.string(), location: z.string(), store: z.enum(['blob', 'file']).optional() })),
    input_variables: z.record(z.string(), z.unknown()),
    runtime_inputs: z.record(z.string(), z.unknown()),
    execution_context: z.record(z.string(), z.unknown()),
    previews: z.record(z.string(), Preview).meta({ description: 'By agent id.' }),
    agents_output: z.array(AgentOutput),
    anomaly_detected: z.array(Anomaly).nullable(),
    conclusion: Conclusion.nullable(),
    created_at: z.number(),
    end_time: z.number().nullable(),
    executed_by: z.object({ _id: z.string(), metadata: z.unknown(), name: z.string(), type: z.string() }),
    status: Status,
  })
  .meta({ id: 'Execution' });
export type Execution = z.infer<typeof Execution>;

/**
 * The stored execution: what the API shows, and what only we need. `_id` is the execution id. Its state is a
 * projection with one writer, the execution's workflow (design, Workflows).
 */
export interface ExecutionDocument extends Execution {
  organization_id: string;
  plan: AgentPlan[];
  /** What the plan has beside its agents. */
  flow?: Pick<AgentflowExecutionInput, 'anomaly_detection' | 'failover'>;
  started_at: number | null;
  steps: StepRecord[];
  last_event_seq: number;
}

/** `_id` is `<execution_id>:<seq>`. */
export interface ExecutionEventDocument {
  _id: string;
  execution_id: string;
  seq: number;
  type: string;
  at: number;
  data: Record<string, unknown>;
}

/** Drops what only we need; with a live state, shows that instead of the projection. */
export function toExecution(record: ExecutionDocument, live?: ExecutionState): Execution {
  const { organization_id: _organization, plan: _plan, flow: _flow, started_at: _started, steps: _steps, last_event_seq: _seq, ...shown } = record;
  if (!live) return shown;
  const { context, previews, anomaly_detected } = viewOf(live);
  return {
    ...shown,
    previews,
    anomaly_detected,
    status: live.status,
    end_time: live.end_time,
    agents_output: live.agents_output,
    conclusion: live.conclusion,
    execution_context: { ...shown.execution_context, ...context, ...(live.failure && { failure: live.failure }) },
  };
}

export function isOver(status: Execution['status']): boolean {
  return status === 'completed' || status === 'failed';
}
