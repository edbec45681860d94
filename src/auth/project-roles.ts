import type { Collections } from '../stores/collections.js';
import { roleOn } from './users.js';

/** Returns the project, unless it was deleted. */
export async function findActiveProject({ projects }: Pick<Collections, 'projects'>, projectId: string) {
  return (await projects.findOne({ _id: projectId, status: { $ne: 'deleted' } })) ?? undefined;
}

/**
 * Returns the project with the user's current role on it, or undefined if the project was deleted or the user has no
 * role.
 */
export async function findProjectWithRole(
  collections: Pick<Collections, 'projects' | 'memberships'>,
  userId: string,
  projectId: string,
) {
  const project = await findActiveProject(collections, projectId);
  if (!project) return undefined;
  const role = await roleOn(collections, userId, project);
  return role === undefined ? undefined : { project, role };
}
