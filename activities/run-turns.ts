import { ApplicationFailure } from '@temporalio/common';
import type { RunTurns } from '../src/domain/run-turns/create-run-turns.js';
import { maxWaiting } from '../src/domain/run-turns/rules.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';
import { withPlainHeartbeat } from './with-heartbeat.js';

export function createRunTurnActivities(
  turns: RunTurns,
): Pick<AgentflowExecutionActivities, 'takeRunTurn' | 'endRunTurn'> {
  return {
    async takeRunTurn(request) {
      const answer = await withPlainHeartbeat(() => turns.ask(request));
      if (answer !== 'too many wait') return answer;
      throw ApplicationFailure.nonRetryable(
        `the run cannot wait for its turn: ${maxWaiting} runs of the agentflow already wait, which is the maximum`,
        'too_many_waiting',
      );
    },
    endRunTurn: ({ agentflow_id, execution_id }) => withPlainHeartbeat(() => turns.end(agentflow_id, execution_id)),
  };
}
