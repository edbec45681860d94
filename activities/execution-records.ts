import { Context } from '@temporalio/activity';
import { createProjector, type ProjectDeps } from '../src/domain/executions/project.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';

type ExecutionRecordDeps = Omit<ProjectDeps, 'collections'> & { mongo: Mongo };
type ExecutionRecordActivities = Pick<AgentflowExecutionActivities, 'publishExecution' | 'cancelOwnRun'>;

export function createExecutionRecordActivities({ mongo, ...deps }: ExecutionRecordDeps): ExecutionRecordActivities {
  const project = createProjector({ collections: mongo.collections, ...deps });
  return {
    publishExecution: (projection) => project(projection, Context.current().info.workflowExecution?.runId ?? ''),
    async cancelOwnRun() {
      const { client, info } = Context.current();
      const { workflowId, runId } = info.workflowExecution ?? {};
      if (workflowId !== undefined) await client.workflow.getHandle(workflowId, runId).cancel();
    },
  };
}
