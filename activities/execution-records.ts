import { Context } from '@temporalio/activity';
import { projectExecution, type ProjectDeps } from '../src/domain/executions/project.js';
import { withdrawApprovals, type WithdrawDeps } from '../src/governance/approvals/withdraw.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';

type ExecutionRecordDeps = Omit<ProjectDeps, 'collections'> &
  Pick<WithdrawDeps, 'temporal' | 'audit'> & { mongo: Mongo };
type ExecutionRecordActivities = Pick<AgentflowExecutionActivities, 'publishExecution' | 'cancelOwnRun'>;

export function createExecutionRecordActivities({
  mongo: { collections },
  temporal,
  audit,
  ...deps
}: ExecutionRecordDeps): ExecutionRecordActivities {
  return {
    async publishExecution(projection) {
      const runId = Context.current().info.workflowExecution?.runId ?? '';
      await projectExecution({ collections, ...deps }, projection, runId);
      if (projection.status === 'failed')
        await withdrawApprovals({ collections, temporal, audit }, projection.execution_id);
    },
    async cancelOwnRun() {
      const { client, info } = Context.current();
      const { workflowId, runId } = info.workflowExecution ?? {};
      if (workflowId !== undefined) await client.workflow.getHandle(workflowId, runId).cancel();
    },
  };
}
