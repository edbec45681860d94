import type { z } from 'zod';
import type { Principal } from '../auth/principal.js';

export type ExecutionMove = 'pause' | 'resume' | 'cancel';

export interface ExecutionSummary {
  execution_id: string;
  status: string;
}

/**
 * The operations that tools share with the platform surface; the application wires them, since surfaces do not
 * import each other. Errors are the operations' own: `not_found`, `conflict`, `validation_failed`, `unavailable`.
 */
export interface PlatformPorts {
  executions: {
    /** Prepares and starts a run of the agentflow's promoted version; `conflict` where none was promoted. */
    runPromoted(
      principal: Principal,
      input: { agentflow_id: string; goal: string; input_variables: Record<string, unknown>; lifecycle_id: string },
    ): Promise<ExecutionSummary>;
    /** Refuses what `runPromoted` would refuse, without effect. */
    checkPromoted(principal: Principal, agentflowId: string): Promise<{ version: number; name: string }>;
    list(principal: Principal, limit: number): Promise<ExecutionSummary[]>;
    get(principal: Principal, executionId: string): Promise<Record<string, unknown> & ExecutionSummary>;
    /** Refuses what `move` would refuse now, without effect. */
    checkMove(principal: Principal, executionId: string, move: ExecutionMove): Promise<ExecutionSummary>;
    move(principal: Principal, executionId: string, move: ExecutionMove, reason?: string): Promise<ExecutionSummary>;
  };
  skills: {
    /** The platform's own request schema. */
    request: z.ZodType<{ name: string }>;
    save(principal: Principal, skill: { name: string }): Promise<{ _id: string; name: string }>;
  };
}
