import type { Collections } from '../stores/collections.js';
import { roleOn } from './users.js';

/** A project that was not deleted: nothing is done any more in one that was. */
export async function livingProject({ projects }: Pick<Collections, 'projects'>, projectId: string) {
  return (await projects.findOne({ _id: projectId, status: { $ne: 'deleted' } })) ?? undefined;
}

/** A project with the role that a user has there now; undefined where there is none. */
export async function standingOn(collections: Pick<Collections, 'projects' | 'memberships'>, userId: string, projectId: string) {
  const project = await livingProject(collections, projectId);
  if (!project) return undefined;
  const role = await roleOn(collections, userId, project);
  return role === undefined ? undefined : { project, role };
}
