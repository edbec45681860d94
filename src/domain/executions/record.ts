import { executionIndexes } from './record/indexes.js';
import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import type {
  AgentflowExecutionInput,
  AgentPlan,
  ExecutionEvent,
  ExecutionState,
} from '../../../workflows/agentflow-execution/messages.js';
import type { StepRecord } from '../../../workflows/agentflow-execution/step-record.js';
import { viewOf } from '../../../workflows/agentflow-execution/view.js';
import { exampleId, Id, ProjectId, UserId } from '../../base/ids.js';
import { EpochSeconds, Expiry } from '../../base/time.js';
import { pickShown } from '../../base/pick.js';
import { RunningRelease } from '../releases/record.js';

const Status = z.enum(['ready', 'running', 'paused', 'completed', 'failed']);

const AgentId = z.string().meta({ example: 'reader' });
const Title = z.string().meta({ example: 'Reader' });
const Role = z.string().meta({ example: 'assessor' });
const Model = z.string().meta({ example: 'gpt-5-mini' });
const Name = z.string().meta({ example: 'Claims desk' });

/** Where in a flow something is. */
export const FlowPath = z
  .string()
  .optional()
  .describe('The path in the flow: steps with their branches, items or rounds. Absent for the main part.')
  .meta({ example: 'each/17' });

const EmbeddedAgent = z.object({
  _id: AgentId,
  llm: z.object({
    model: Model,
    temperature: z.number().nullable().meta({ example: null }),
    max_tokens: z.int().nullable().meta({ example: null }),
  }),
  role: Role,
  role_description: z.string().meta({ example: 'Reads a claim and finds what is missing' }),
  title: Title,
  agent_type: z.string().meta({ example: 'llm' }),
  next_agent: AgentId.nullable(),
});

const EmbeddedStep = z.looseObject({
  _id: z.string().meta({ example: 'sort' }),
  type: z.string().meta({ example: 'branch' }),
  title: z.string().meta({ example: 'Sort by topic' }),
});

const FlowSchema = z
  .record(z.string(), z.unknown())
  .optional()
  .describe('Absent if the agentflow has none.')
  .meta({ example: { type: 'object' } });

const AgentOutput = z.object({
  agent_id: AgentId,
  path: FlowPath,
  title: Title,
  model: Model,
  output: z.string().meta({ example: 'The claim is complete.' }),
  value: z.unknown().optional().describe('The JSON value of the output, if the agent has an `output_schema`.'),
  actions: z.array(
    z.object({
      action_id: z.string().meta({ example: 'look_up' }),
      skill_id: Id,
      name: z.string().meta({ example: 'Look up the claim' }),
      output: z.unknown(),
      edits: z.record(z.string(), z.unknown()).optional().describe('What an approver changed in the call.'),
    }),
  ),
  usage: z.object({
    input_tokens: z.number().meta({ example: 812 }),
    output_tokens: z.number().meta({ example: 164 }),
  }),
  started_at: EpochSeconds,
  ended_at: EpochSeconds,
  kept_from: Id.optional().describe('In a rerun, the execution that produced the output.'),
});

const Preview = z
  .object({
    preview_id: Id,
    agent_id: AgentId,
    path: FlowPath,
    title: Title,
    status: z.enum(['waiting', 'approved', 'edited', 'rejected', 'expired']),
    kind: z.enum(['actions', 'output']),
    proposed: z.unknown().describe('The proposed actions with their inputs, or `{output}`.'),
    edits: z.unknown(),
    requested_at: EpochSeconds,
    expires_at: Expiry,
    decided_by: UserId.nullable(),
    decided_at: EpochSeconds.nullable(),
  })
  .meta({ id: 'Preview' });

const Anomaly = z.object({
  agent_id: AgentId,
  finding: z.string().meta({ example: 'The answer names no source.' }),
  at: EpochSeconds,
});

const Conclusion = z.object({
  output: z.unknown().optional().describe('What the flow returned, if it is not a text.'),
  conclusion: z.string().meta({ example: 'The claim is complete.' }),
  links: z.array(z.string().meta({ example: 'https://docs.acme.dev/claims' })),
  created_at: EpochSeconds,
});

/** An execution in the API (specification, Execution). Times are epoch seconds. */
export const Execution = z
  .object({
    _id: Id,
    execution_id: z.uuid().meta({ example: exampleId }),
    projectID: ProjectId,
    agentflow_id: Id,
    agentflow_version: z
      .int()
      .nullable()
      .describe('The release that it runs. Null if it runs a draft.')
      .meta({ example: 2 }),
    draft: z
      .boolean()
      .describe('Whether it runs the agentflow as it was saved, and no release.')
      .meta({ example: false }),
    release: RunningRelease.nullable().describe('Null if it runs a draft.'),
    agentflow: z.object({
      agentflow_id: Id,
      agents: z.array(EmbeddedAgent),
      steps: z
        .array(EmbeddedStep)
        .optional()
        .describe('Like those of the agentflow, without the calls of actions. Absent if the flow has only agents.'),
      input_schema: FlowSchema,
      output_schema: FlowSchema,
      image: z.string().meta({ example: 'https://cdn.acme.dev/claims.png' }),
      initialAgent: AgentId,
      name: Name,
      role: Role,
      conclusion: z.unknown(),
    }),
    task_id: Id,
    parent_execution_id: Id.nullable().meta({ example: null }),
    goal: z.string().meta({ example: 'Answer claim C-1042' }),
    goal_template: z.unknown(),
    schedule: z.unknown().describe('The id of the schedule that started it, or null.'),
    start_from_agent_id: AgentId.nullable(),
    files: z.array(
      z.object({
        name: z.string().meta({ example: 'claim.md' }),
        mime_type: z.string().meta({ example: 'text/markdown' }),
        location: z.string().meta({ example: 'executions/claim.md' }),
        store: z.enum(['blob', 'file']).optional(),
      }),
    ),
    input_variables: z.record(z.string(), z.unknown()),
    runtime_inputs: z.record(z.string(), z.unknown()),
    execution_context: z
      .record(z.string(), z.unknown())
      .describe(
        '`failure` is why a run failed (`reason`: step_failed, cancelled, limit_exceeded, preview_rejected, preview_expired, terminated, timed_out or lost). `waiting_for` is what an open run waits for: `{kind: "preview", agent_id, preview_id, expires_at}`, `{kind: "approval", agent_id, step_id, approval_id, expires_at}` while an act waits for a decision, `{kind: "question", step_id, question_id, expires_at}` while an `ask` step waits for an answer, `{kind: "event", step_id, name, expires_at}` while a `wait` step waits for an event, `{kind: "step", step_id, attempts, error, next_attempt_at}` while a step is retried, or `{kind: "turn", key, since}` while a run that is `ready` waits for its turn (`concurrency` of its agentflow). `tried_step` is the agent or step that a run tries alone. `hold` says why the service paused or ended a run: its person has no role that permits it. A rerun has `rerun_of` and, if one was given, `rerun_reason`.',
      ),
    previews: z.record(z.string(), Preview).describe('By agent id, within a part of the flow after its path.'),
    agents_output: z.array(AgentOutput),
    anomaly_detected: z.array(Anomaly).nullable(),
    conclusion: Conclusion.nullable(),
    created_at: EpochSeconds,
    projected_at: z
      .number()
      .nullable()
      .describe(
        'When the workflow last wrote the stored execution, which lists show: after an action of a person, at the end, and otherwise at most once a second. Null before the first write. A read of one open execution asks the workflow and is newer.',
      ),
    end_time: EpochSeconds.nullable(),
    executed_by: z.object({
      _id: UserId,
      metadata: z.unknown(),
      name: z.string().meta({ example: 'Grace Hopper' }),
      type: z.string().meta({ example: 'manual' }),
    }),
    status: Status,
  })
  .meta({ id: 'Execution' });
export type Execution = z.infer<typeof Execution>;

/**
 * The stored execution: the fields of the API, and internal fields. `_id` is the execution id. The state is a
 * projection that only the execution's workflow writes (design, Workflows), apart from the status after a pause or resume.
 */
export interface ExecutionDocument extends Omit<Execution, 'projected_at' | 'agentflow_version' | 'draft' | 'release'> {
  /** Absent in records of earlier releases of the product. */
  release?: Execution['release'];
  organization_id: string;
  plan: AgentPlan[];
  /** The settings of the plan that apply to all agents. */
  flow: Pick<
    AgentflowExecutionInput,
    | 'anomaly_detection'
    | 'failover'
    | 'started_by'
    | 'agentflow_version'
    | 'turn'
    | 'steps'
    | 'parents'
    | 'output_schema'
    | 'given'
    | 'slice'
  >;
  /** The people who caused it, in addition to `executed_by` (docs/decisions/0022). */
  caused_by: string[];
  /** Those of them who caused this run itself, and not only the content of its agentflow. */
  directed_by: string[];
  /** Other people who edited a preview or an act of the run, or answered a question of an MCP server. */
  shaped_by?: string[];
  started_at: number | null;
  steps: StepRecord[];
  last_event_seq: number;
  projected_at: number | null;
  /** The number of the event of the last pause or resume that the API has written. Absent before the first. */
  moved_seq?: number | null;
  /** When it was last written, in epoch milliseconds, for the event stream of its project. */
  changed_at: number;
  /** The run whose end was reconciled. Its late writes are ignored. Null if Temporal no longer has the run. */
  ended_run?: string | null;
}

/** `_id` is `<execution_id>:<seq>`. */
interface ExecutionEventDocument extends ExecutionEvent {
  _id: string;
  execution_id: string;
}

/** Whether it runs the agentflow as it was saved, and no release. */
export function isDraft({ flow }: Pick<ExecutionDocument, 'flow'>): boolean {
  return flow.agentflow_version === undefined;
}

/** Uses the live state, if given, instead of the projection. */
export function toExecution(record: ExecutionDocument, live?: ExecutionState): Execution {
  const { release = null, flow } = record;
  const own = { agentflow_version: flow.agentflow_version ?? null, draft: isDraft(record), release };
  const fields = { ...pickShown(Execution, record), ...own };
  if (!live) return fields;
  const { context, previews, anomaly_detected } = viewOf(live);
  return {
    ...fields,
    previews,
    anomaly_detected,
    status: live.status,
    projected_at: Math.max(live.projected_at, fields.projected_at ?? 0) || null,
    end_time: live.end_time,
    agents_output: live.agents_output,
    conclusion: live.conclusion,
    execution_context: { ...fields.execution_context, ...context, ...(live.failure && { failure: live.failure }) },
  };
}

/** The fields that grow with the agents of an execution. Lists do not read them for summaries. */
export const notInSummary = {
  ...{ plan: 0, steps: 0, previews: 0, agents_output: 0, anomaly_detected: 0, conclusion: 0 },
  ...{ input_variables: 0, runtime_inputs: 0, files: 0, 'agentflow.agents': 0 },
} as const;

/** The execution as lists show it, without these fields. */
export function toSummary(record: ExecutionDocument): Execution {
  const { agentflow, ...rest } = toExecution(record);
  const empty = { input_variables: {}, runtime_inputs: {}, previews: {}, agents_output: [], files: [] };
  return { ...rest, ...empty, agentflow: { ...agentflow, agents: [] }, anomaly_detected: null, conclusion: null };
}

export function isOver(status: Execution['status']): boolean {
  return status === 'completed' || status === 'failed';
}

export const executionsCollection = defineCollection('executions', { indexes: executionIndexes });
export const executionEventsCollection = defineCollection('execution_events', {
  indexes: [{ keys: { execution_id: 1, seq: 1 } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    executions: ExecutionDocument;
    execution_events: ExecutionEventDocument;
  }
}
