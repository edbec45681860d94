import type { Collections } from '../stores/collections.js';
import { rolesOn } from './users.js';

/** Returns the project, unless it was deleted. */
export async function findActiveProject({ projects }: Pick<Collections, 'projects'>, projectId: string) {
  return (await projects.findOne({ _id: projectId, status: { $ne: 'deleted' } })) ?? undefined;
}

/**
 * Returns the project with the user's current roles on it, or undefined if the project was deleted or the user has no
 * role.
 */
export async function findProjectWithRoles(
  collections: Pick<Collections, 'projects' | 'memberships'>,
  userId: string,
  projectId: string,
) {
  const project = await findActiveProject(collections, projectId);
  if (!project) return undefined;
  const held = await rolesOn(collections, userId, project);
  return held && { project, ...held };
}
