import type { ProjectRemovalInput } from '../../../workflows/project-removal/messages.js';
import { memberOf } from '../../auth/principal.js';
import { isAppError } from '../../base/errors.js';
import { cancelWorkflow } from '../../temporal/client.js';
import { removeProjectGraph } from '../../graph/store/remove-project.js';
import { batches } from '../batches.js';
import { unbindProject } from '../connectors/operations/repositories.js';
import { deleteConnectorCompletely } from '../connectors/operations/setup.js';
import type { Deps } from '../deps.js';
import { move } from '../executions/operations/moves.js';
import { removeExchanges } from '../executions/operations.js';
import { removeSchedules } from '../schedules/operations.js';
import { removeTables } from '../tables/operations.js';

/** The number of executions that are cancelled concurrently. */
const maxConcurrentCancels = 10;
const listMs = 30_000;
const maxMemoriesPerBatch = 500;

/** Removes everything of a deleted project that starts runs. Safe to repeat. */
export async function removeStarters(deps: Deps, project: ProjectRemovalInput): Promise<void> {
  await removeAgentflows(deps, project);
  await removeSchedules(deps, project.project_id);
  await removeConnectors(deps, project);
  await deps.mongo.collections.mcp_tasks.deleteMany({ project_id: project.project_id });
  await unbindProject(deps.mongo.collections, project.project_id);
  await endSyncs(deps, project);
}

/** Cancels the project's executions that have not ended. Safe to repeat. */
export async function cancelExecutions(deps: Deps, project: ProjectRemovalInput): Promise<{ cancelled: number }> {
  const open = {
    projectID: project.project_id,
    status: { $in: ['ready' as const, 'running' as const, 'paused' as const] },
  };
  const found = await deps.mongo.collections.executions.find(open, { projection: { _id: 1 } }).toArray();
  for (const batch of batches(found, maxConcurrentCancels))
    await Promise.all(batch.map(({ _id }) => cancelExecution(deps, project, _id)));
  return { cancelled: found.length };
}

/** Runs first: after it, no new execution can be prepared. */
async function removeAgentflows(
  { mongo, customers }: Deps,
  { project_id: projectID, organization_id }: ProjectRemovalInput,
): Promise<void> {
  const { agentflows } = mongo.collections;
  await agentflows.updateMany({ projectID, is_deleted: false }, { $set: { is_deleted: true }, $inc: { revision: 1 } });
  for await (const { _id } of agentflows.find({ projectID }, { projection: { _id: 1 } }))
    await customers.release(organization_id, 'number_of_coworkers', _id);
}

async function removeConnectors(deps: Deps, { project_id: projectID }: ProjectRemovalInput): Promise<void> {
  const { connectors, connector_triggers } = deps.mongo.collections;
  for await (const connector of connectors.find({ projectID })) await deleteConnectorCompletely(deps, connector);
  await connector_triggers.deleteMany({ projectID });
}

/** Workflows that belong to no execution or schedule and can run for hours. */
const syncs = [
  'catalogSync',
  'codeSync',
  'connectorEvents',
  'connectorLoad',
  'embedding',
  'knowledgeUpload',
  'mcpTools',
  'remember',
  'textIndex',
];

async function endSyncs(deps: Deps, { project_id }: ProjectRemovalInput): Promise<void> {
  const types = syncs.map((name) => `'${name}'`).join(', ');
  const query = `ProjectId = '${project_id}' AND ExecutionStatus = 'Running' AND WorkflowType IN (${types})`;
  const found = await deps.temporal.call(async (client) => {
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
    return ids;
  }, listMs);
  for (const batch of batches(found, maxConcurrentCancels))
    await Promise.all(batch.map((id) => cancelWorkflow(deps.temporal, id)));
}

/**
 * Removes the context graph, the remembered texts, what steps sent and received, the calls of approvals, and the tables and files, whose places
 * and storage nobody could free afterwards. Safe to repeat.
 */
export async function removeContents(
  deps: Pick<Deps, 'graph' | 'mongo' | 'customers' | 'files'>,
  { project_id, organization_id }: ProjectRemovalInput,
  signal: AbortSignal,
): Promise<void> {
  const { graph, mongo } = deps;
  await removeProjectGraph(graph, project_id, signal);
  const { approval_payloads, act_edits, invitations, memories, memory_parts } = mongo.collections;
  await invitations.deleteMany({ project_id });
  await approval_payloads.deleteMany({ project_id });
  await act_edits.deleteMany({ project_id });
  for (;;) {
    const batch = await memories
      .find({ project_id }, { projection: { _id: 1 } })
      .limit(maxMemoriesPerBatch)
      .toArray();
    if (batch.length === 0) break;
    const ids = batch.map(({ _id }) => _id);
    await memory_parts.deleteMany({ memory_id: { $in: ids } });
    await memories.deleteMany({ _id: { $in: ids } });
  }
  for await (const { _id } of mongo.collections.executions.find({ projectID: project_id }, { projection: { _id: 1 } }))
    await removeExchanges(mongo.collections, _id);
  await removeTables(deps, { projectID: project_id, organization_id });
  const stored = { projectID: project_id, status: { $in: ['uploading' as const, 'ready' as const] } };
  for await (const file of mongo.collections.files.find(stored)) await deps.files.deleteContent(file, 'deleted');
}

async function cancelExecution(
  deps: Deps,
  { deleted_by, organization_id, project_id }: ProjectRemovalInput,
  id: string,
): Promise<void> {
  const principal = memberOf({ userId: deleted_by, organizationId: organization_id, projectId: project_id }, [
    'svc:orchestrate.write',
  ]);
  try {
    await move(deps, principal, id, 'cancel', { reason: 'the project was deleted' });
  } catch (error) {
    // The execution ended in the meantime.
    if (!isAppError(error) || error.code !== 'conflict') throw error;
  }
}
