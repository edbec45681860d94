import { z } from 'zod';
import { endCodes, executionStatuses } from './messages.js';

const path = {
  path: z.string().optional().describe('Where in the flow. Absent for the main part.').meta({ example: 'each/17' }),
};
const stepId = { step_id: z.string() };
const agentId = { agent_id: z.string(), ...path };
const expiry = { expires_at: z.number().describe('Epoch seconds.') };
const ended = { ...stepId, attempts: z.int(), error: z.string().nullable() };
const moved = { by: z.string().describe('A user id, or `operator`.'), reason: z.string() };
const failure = {
  reason: z.enum(['cancelled', 'step_failed', ...endCodes, 'terminated', 'timed_out', 'lost']),
  code: z.string().describe('For `step_failed`, the code of the error of the step; otherwise the reason.'),
  message: z.string(),
  by: z.string().nullable(),
  at: z.number().describe('Epoch seconds.'),
  step_id: z.string().nullable(),
};

/** The `data` of each type of event of an execution. */
export const eventData = {
  turn_awaited: {
    key: z
      .string()
      .nullable()
      .describe('The value of the concurrency key of the agentflow.')
      .meta({ example: 'customer-17' }),
  },
  started: { goal: z.string().meta({ example: 'Answer claim C-1042' }) },
  agent_started: { ...agentId, title: z.string() },
  agent_completed: { ...agentId, output: z.string() },
  step_started: { ...stepId, ...path, kind: z.string(), name: z.string() },
  step_continued: stepId,
  step_completed: ended,
  step_failed: ended,
  step_cancelled: ended,
  tool_call_refused: { ...agentId, name: z.string(), problem: z.string() },
  output_refused: {
    ...agentId,
    problems: z.array(z.string()).describe('Why the answer does not match the schema of the output.'),
  },
  approval_requested: { ...stepId, ...path, name: z.string(), approval_id: z.string(), ...expiry },
  approval_settled: { ...stepId, approval_id: z.string() },
  question_asked: { ...stepId, ...path, name: z.string(), question_id: z.string(), ...expiry },
  question_settled: {
    ...stepId,
    question_id: z.string(),
    by: z.string().nullable().describe('A user id; null if nobody answered in time.'),
  },
  act_edited: { ...stepId, fields: z.array(z.string()).describe('What the approver edited.') },
  preview_requested: { ...agentId, title: z.string(), kind: z.enum(['actions', 'output']), ...expiry },
  preview_decided: {
    ...agentId,
    status: z.enum(['approved', 'edited', 'rejected', 'expired']),
    by: z.string().nullable().describe('A user id; null if nobody decided in time.'),
  },
  elicitation_requested: { ...stepId, ...path, name: z.string(), elicitation_id: z.string(), ...expiry },
  elicitation_settled: { step_id: z.string().nullable(), elicitation_id: z.string(), ...path },
  anomaly_detected: { ...agentId, finding: z.string(), at: z.number().describe('Epoch seconds.') },
  anomaly_not_checked: { ...agentId, code: z.string(), reason: z.string() },
  child_started: { execution_id: z.string() },
  event_received: { event_id: z.string(), name: z.string(), by: z.string().describe('A user id.') },
  signal_ignored: { signal: z.string(), status: z.enum(executionStatuses) },
  paused: moved,
  resumed: moved,
  failover_started: { failure: z.object(failure) },
  completed: { conclusion: z.string() },
  failed: failure,
} as const;

/** The `data` of an event by its type. */
export type EventData = { [T in keyof typeof eventData]: z.infer<z.ZodObject<(typeof eventData)[T]>> };
