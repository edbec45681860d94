import { WorkflowIdConflictPolicy } from '@temporalio/common';
import {
  projectRemovalType,
  projectRemovalWorkflowId,
  type ProjectRemovalInput,
} from '../../../workflows/project-removal/messages.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import { endCredentials } from '../../auth/end-credentials.js';
import type { Principal } from '../../auth/principal.js';
import type { Deps } from '../deps.js';
import { releaseMember } from '../customers/operations/release-member.js';
import { epochSeconds } from '../../base/time.js';
import type { Project } from './record.js';

type ProjectRemovalDeps = Pick<Deps, 'mongo' | 'customers' | 'auth' | 'oauth' | 'log' | 'temporal'>;

/**
 * Deletes a project. Starts the removal workflow first, which stops everything that runs in the project, and also deletes
 * the project if this process crashes.
 * @throws AppError `unavailable` without effect if Temporal does not answer
 */
export async function removeProject(
  deps: ProjectRemovalDeps,
  { userId }: Principal,
  { _id, name, organization_id }: Project,
): Promise<void> {
  const input: ProjectRemovalInput = { project_id: _id, organization_id, deleted_by: userId };
  await deps.temporal.call((client) =>
    client.workflow.start(projectRemovalType, {
      taskQueue: deps.temporal.taskQueue,
      workflowId: projectRemovalWorkflowId(_id),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      args: [input],
      memo: { project: _id },
      staticSummary: `Delete project ${name}`.slice(0, 200),
      typedSearchAttributes: attributePairs({ projectId: _id, organizationId: organization_id }),
    }),
  );
  await closeProject(deps, input);
}

type Closed = Pick<ProjectRemovalInput, 'project_id' | 'organization_id'>;

/** Revokes the project's credentials, marks it as deleted, ends the roles on it, and releases its name and quota. Idempotent. */
export async function closeProject(
  deps: ProjectRemovalDeps,
  { project_id: _id, organization_id }: Closed,
): Promise<void> {
  const { projects } = deps.mongo.collections;
  await endCredentials(
    { ...deps, grants: deps.oauth.grants },
    organization_id,
    { projectId: _id },
    'the project was deleted',
  );
  const project = await projects.findOne({ _id, status: { $ne: 'deleted' } });
  if (project) {
    // Releases the name in the unique index. Project names never start with a space.
    const name = ` deleted ${_id} ${project.name}`;
    await projects.updateOne(
      { _id, status: { $ne: 'deleted' } },
      { $set: { status: 'deleted', name, updated_at: epochSeconds() } },
    );
  }
  await deps.customers.release(organization_id, 'number_of_workspaces', _id);
  await endRoles(deps, { project_id: _id, organization_id });
}

/** A process that dies between the two steps leaves a place without a role, which is freed when a new member needs it. */
async function endRoles(deps: ProjectRemovalDeps, { project_id, organization_id }: Closed): Promise<void> {
  const { memberships } = deps.mongo.collections;
  for await (const { _id, user_id } of memberships.find({ organization_id, project_id })) {
    await memberships.deleteOne({ _id });
    await releaseMember(deps, organization_id, user_id);
  }
}
