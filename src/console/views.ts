import { z } from 'zod';

/** What the console reads of the platform's answers. Times are epoch seconds. */
export const ExecutionStatus = z.enum(['ready', 'running', 'paused', 'completed', 'failed']);
export type ExecutionStatus = z.infer<typeof ExecutionStatus>;

const Preview = z.object({
  agent_id: z.string(),
  title: z.string(),
  status: z.string(),
  kind: z.string(),
  proposed: z.unknown(),
  expires_at: z.number(),
});

const Failure = z.object({ code: z.string(), message: z.string(), by: z.string().nullable(), step_id: z.string().nullable() });

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

export const ExecutionRun = z.object({ workflow_id: z.string(), temporal_ui_url: z.string().nullable(), steps: z.array(Step) });
export type ExecutionRun = z.infer<typeof ExecutionRun>;

export function isOver(status: ExecutionStatus): boolean {
  return status === 'completed' || status === 'failed';
}
