import { z } from 'zod';
import { listOf } from '../../stores/lists.js';

/** The parts of the API's answers that the console uses. Times are epoch seconds. */
export const ExecutionStatus = z.enum(['ready', 'running', 'paused', 'completed', 'failed']);
export type ExecutionStatus = z.infer<typeof ExecutionStatus>;

const Preview = z.object({
  preview_id: z.string(),
  agent_id: z.string(),
  title: z.string(),
  status: z.string(),
  kind: z.string(),
  proposed: z.unknown(),
  expires_at: z.number(),
});

const Failure = z.object({
  code: z.string(),
  message: z.string(),
  by: z.string().nullable(),
  step_id: z.string().nullable(),
});

export const ExecutionView = z.object({
  execution_id: z.string(),
  agentflow: z.object({ name: z.string(), agents: z.array(z.object({ _id: z.string(), title: z.string() })) }),
  goal: z.string(),
  status: ExecutionStatus,
  created_at: z.number(),
  end_time: z.number().nullable(),
  executed_by: z.object({ _id: z.string() }),
  parent_execution_id: z.string().nullable(),
  previews: z.record(z.string(), Preview),
  conclusion: z.object({ conclusion: z.string(), links: z.array(z.string()) }).nullable(),
  execution_context: z.object({ failure: Failure.optional(), lifecycle_id: z.string().optional() }),
});
export type ExecutionView = z.infer<typeof ExecutionView>;

const Step = z.object({
  step_id: z.string(),
  kind: z.string(),
  agent_id: z.string(),
  action_id: z.string().nullable(),
  name: z.string(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  attempts: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  error: z.string().nullable(),
});
export type Step = z.infer<typeof Step>;

export const ExecutionRun = z.object({
  workflow_id: z.string(),
  temporal_ui_url: z.string().nullable(),
  steps: z.array(Step),
});
export type ExecutionRun = z.infer<typeof ExecutionRun>;

export const ScheduleView = z.object({
  _id: z.string(),
  coworker_id: z.string(),
  goal: z.object({ template: z.string() }),
  type: z.enum(['once', 'interval', 'cron']),
  schedule: z.number(),
  frequency: z.union([z.number(), z.object({ cron: z.string(), time_zone: z.string() })]).nullable(),
  status: z.enum(['active', 'paused', 'completed']),
  reason: z.string().nullable(),
  count: z.number(),
  limit: z.number().nullable(),
  overlap: z.string(),
});
export type ScheduleView = z.infer<typeof ScheduleView>;

export const ScheduleRunView = z.object({
  scheduled_for: z.number(),
  started_at: z.number().nullable(),
  ended_at: z.number().nullable(),
  status: z.string(),
  reason: z.string().nullable(),
  executions: z.array(
    z.object({
      execution_id: z.string().nullable(),
      record_id: z.string().nullable(),
      status: z.string(),
      error: z.string().nullable(),
    }),
  ),
  error: z.string().nullable(),
  temporal_ui_url: z.string().nullable(),
});
export type ScheduleRunView = z.infer<typeof ScheduleRunView>;

/** Past runs, including those that did not fire, newest first, and the next planned times. */
export const ScheduleRunsView = z.object({ ...listOf(ScheduleRunView).shape, next: z.array(z.number()) });
export type ScheduleRunsView = z.infer<typeof ScheduleRunsView>;

export const ConnectedAppView = z.object({
  id: z.string(),
  client_id: z.string(),
  client_name: z.string(),
  user_id: z.string(),
  project_id: z.string(),
  scopes: z.array(z.string()),
  created_at: z.number(),
  last_used_at: z.number().nullable(),
  expires_at: z.number(),
});
export type ConnectedAppView = z.infer<typeof ConnectedAppView>;

export function isOver(status: ExecutionStatus): boolean {
  return status === 'completed' || status === 'failed';
}
