import type { Move } from '../../workflows/agentflow-execution/state.js';
import type { Principal } from '../auth/principal.js';
import type { Deps } from '../deps.js';
import { newId } from '../ids.js';
import { readPromoted } from './resources/agentflows/promote.js';
import { NewSkill } from './resources/agentflows/schemas.js';
import { NewExecution, prepareExecution } from './resources/executions/create.js';
import { newestEvents } from './resources/executions/events.js';
import { checkMove, execute, move } from './resources/executions/moves.js';
import { liveState, readExecution } from './resources/executions/read.js';
import { toExecution } from './resources/executions/record.js';
import { saveSkill } from './resources/skills.js';

interface PromotedRun {
  agentflow_id: string;
  goal: string;
  input_variables: Record<string, unknown>;
  lifecycle_id: string;
}

/** The operations of this surface that other surfaces serve as well; the application hands them over. */
export function platformPorts(deps: Deps) {
  const { collections } = deps.mongo;
  return {
    executions: {
      async runPromoted(principal: Principal, { lifecycle_id, ...input }: PromotedRun) {
        const { agentflow } = await readPromoted(collections, principal, input.agentflow_id);
        const id = newId();
        await prepareExecution(deps, principal, agentflow, NewExecution.parse(input), { id, lifecycleId: lifecycle_id });
        return execute(deps, principal, id);
      },
      async checkPromoted(principal: Principal, agentflowId: string) {
        const { version, agentflow } = await readPromoted(collections, principal, agentflowId);
        return { version, name: agentflow.name };
      },
      async list({ projectId }: Principal, limit: number) {
        const newest = await collections.executions.find({ projectID: projectId }).sort({ _id: -1 }).limit(limit).toArray();
        return newest.map(({ execution_id, agentflow_id, goal, status, created_at, end_time }) => ({
          execution_id,
          agentflow_id,
          goal,
          status,
          created_at,
          end_time,
        }));
      },
      async get(principal: Principal, executionId: string) {
        const record = await readExecution(deps, principal, executionId);
        return toExecution(record, await liveState(deps, record));
      },
      events: (principal: Principal, executionId: string) => newestEvents(deps, principal, executionId),
      checkMove: (principal: Principal, executionId: string, name: Move) => checkMove(deps, principal, executionId, name),
      move: (principal: Principal, executionId: string, name: Move, reason?: string) => move(deps, principal, executionId, name, reason),
    },
    skills: {
      request: NewSkill,
      save: (principal: Principal, skill: { name: string }) => saveSkill(collections, principal, NewSkill.parse(skill), newId()),
    },
  };
}
