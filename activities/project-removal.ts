import { memberOf } from '../src/auth/principal.js';
import { isAppError } from '../src/errors.js';
import type { Deps } from '../src/deps.js';
import { removeConnector } from '../src/platform/resources/connectors/store.js';
import { move } from '../src/platform/resources/executions/moves.js';
import { closeProject } from '../src/platform/resources/project-removal.js';
import { applySchedule } from '../src/platform/resources/schedules/temporal.js';
import { isWorkflowGone } from '../src/temporal/client.js';
import type { ProjectRemovalActivities } from '../workflows/project-removal/activities.js';
import type { ProjectRemovalInput } from '../workflows/project-removal/messages.js';
import { batches } from './batches.js';
import { withHeartbeat } from './with-heartbeat.js';

/** Executions that are cancelled at once. */
const cancelledAtOnce = 10;

/** Ends what a deleted project has under way. What is removed already is gone through again: a repeat finishes it. */
export function createProjectRemovalActivities(deps: Deps): ProjectRemovalActivities {
  const { executions } = deps.mongo.collections;
  return {
    closeProject: (project) => withHeartbeat(null, () => closeProject(deps, project)),

    removeStarters: (project) =>
      withHeartbeat(null, async () => {
        await removeAgentflows(deps, project);
        await removeSchedules(deps, project);
        await removeConnectors(deps, project);
        await deps.mongo.collections.repository_bindings.deleteMany({ project_id: project.project_id });
      }),

    cancelExecutions: (project) =>
      withHeartbeat(null, async () => {
        const open = { projectID: project.project_id, status: { $in: ['ready' as const, 'running' as const, 'paused' as const] } };
        const ids = (await executions.find(open, { projection: { _id: 1 } }).toArray()).map(({ _id }) => _id);
        for (const some of batches(ids, cancelledAtOnce)) await Promise.all(some.map((id) => cancelExecution(deps, project, id)));
        return { cancelled: ids.length };
      }),
  };
}

/** First of all: an execution is prepared of a living agentflow only, whatever asks for it. */
async function removeAgentflows({ mongo, customers }: Deps, { project_id: projectID, organization_id }: ProjectRemovalInput): Promise<void> {
  const { agentflows } = mongo.collections;
  await agentflows.updateMany({ projectID, is_deleted: false }, { $set: { is_deleted: true }, $inc: { revision: 1 } });
  for await (const { _id } of agentflows.find({ projectID }, { projection: { _id: 1 } })) await customers.release(organization_id, 'number_of_coworkers', _id);
}

async function removeSchedules(deps: Deps, { project_id: projectID }: ProjectRemovalInput): Promise<void> {
  const { schedules, schedule_runs } = deps.mongo.collections;
  await schedules.updateMany({ projectID, is_deleted: false }, { $set: { is_deleted: true }, $inc: { revision: 1 } });
  for await (const { _id } of schedules.find({ projectID }, { projection: { _id: 1 } })) {
    await applySchedule(deps, _id);
    // A run over the rows of a table would take up the next ones.
    for await (const run of schedule_runs.find({ schedule_id: _id, status: 'running' }, { projection: { _id: 1 } })) await cancelRun(deps, run._id);
  }
}

async function removeConnectors(deps: Deps, { project_id: projectID }: ProjectRemovalInput): Promise<void> {
  const { connectors, connector_triggers } = deps.mongo.collections;
  for await (const connector of connectors.find({ projectID })) await removeConnector(deps, connector);
  await connector_triggers.deleteMany({ projectID });
}

async function cancelRun({ temporal }: Deps, workflowId: string): Promise<void> {
  try {
    await temporal.call((client) => client.workflow.getHandle(workflowId).cancel());
  } catch (error) {
    if (!isWorkflowGone(error)) throw error;
  }
}

async function cancelExecution(deps: Deps, { deleted_by, organization_id, project_id }: ProjectRemovalInput, id: string): Promise<void> {
  const principal = memberOf({ userId: deleted_by, organizationId: organization_id, projectId: project_id }, ['svc:orchestrate.write']);
  try {
    await move(deps, principal, id, 'cancel', 'the project was deleted');
  } catch (error) {
    // It has ended meanwhile.
    if (!isAppError(error) || error.code !== 'conflict') throw error;
  }
}
