import { Context } from '@temporalio/activity';
import { withdrawQuestions } from '../src/domain/executions/ask-person.js';
import { isOver } from '../src/domain/executions/record.js';
import { endSlices } from '../src/domain/executions/slices.js';
import type { Exchanges } from '../src/domain/executions/exchanges.js';
import { withdrawElicitations } from '../src/domain/mcp-servers/operations/elicitations.js';
import { createProjector, type ProjectDeps } from '../src/domain/executions/project.js';
import { withdrawApprovalOfAct, withdrawApprovals, type WithdrawDeps } from '../src/governance/approvals/withdraw.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';
import { withPlainHeartbeat } from './with-heartbeat.js';

type ExecutionRecordDeps = Omit<ProjectDeps, 'collections'> &
  Pick<WithdrawDeps, 'temporal' | 'audit'> & { mongo: Mongo; exchanges: Exchanges };
type ExecutionRecordActivities = Pick<
  AgentflowExecutionActivities,
  'publishExecution' | 'giveWay' | 'cancelOwnRun' | 'withdrawQuestion' | 'withdrawAct'
>;

export function createExecutionRecordActivities({
  mongo: { collections },
  temporal,
  audit,
  exchanges,
  ...deps
}: ExecutionRecordDeps): ExecutionRecordActivities {
  const project = createProjector({ collections, ...deps });
  return {
    publishExecution: (projection) =>
      withPlainHeartbeat(async () => {
        const runId = Context.current().info.workflowExecution?.runId ?? '';
        // Who sees that a step has ended can read its exchange.
        await Promise.all([project(projection, runId), exchanges.flush()]);
        if (!isOver(projection.status)) return;
        const { execution_id, project_id, part_of = execution_id, has_slices } = projection;
        if (has_slices) await endSlices(collections.executions, part_of, execution_id);
        await withdrawApprovals({ collections, temporal, audit }, execution_id);
        if (!('waiting_for' in projection.context)) return;
        await withdrawQuestions(collections, { execution_id });
        await withdrawElicitations(collections, { project_id, execution_id });
      }),
    withdrawQuestion: (_id) => withPlainHeartbeat(() => withdrawQuestions(collections, { _id })),
    withdrawAct: ({ project_id, execution_id, idempotency_key }) =>
      withPlainHeartbeat(async () => {
        await withdrawApprovalOfAct({ collections, temporal }, { execution_id, idempotency_key });
        const step_id = idempotency_key.slice(execution_id.length + 1);
        await withdrawElicitations(collections, { project_id, execution_id, step_id });
      }),
    giveWay: () => Promise.resolve(),
    cancelOwnRun: () =>
      withPlainHeartbeat(async () => {
        const { client, info } = Context.current();
        const { workflowId, runId } = info.workflowExecution ?? {};
        if (workflowId !== undefined) await client.workflow.getHandle(workflowId, runId).cancel();
      }),
  };
}
