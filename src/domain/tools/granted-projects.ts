import { seesWholeOrganization, type Principal } from '../../auth/principal.js';
import type { Collections } from '../../stores/collections.js';

const maxProjects = 500;

/**
 * The projects that the caller's query can access with `$project_ids`. For a user, these are the projects of their
 * memberships in the organization. Keys, sessions and OAuth clients are restricted to a single project.
 */
export async function grantedProjects(
  collections: Pick<Collections, 'memberships' | 'projects'>,
  principal: Principal,
): Promise<string[]> {
  const pinned =
    principal.kind !== 'user_jwt' || principal.clientId !== undefined || principal.tokenGrants !== undefined;
  if (pinned) return [principal.projectId];
  const organization = { organization_id: principal.organizationId, status: { $ne: 'deleted' as const } };
  const memberships = await collections.memberships.find({ user_id: principal.userId }).toArray();
  const here = memberships.filter(({ organization_id }) => organization_id === principal.organizationId);
  const everywhere = here.some((membership) => membership.project_id === null && seesWholeOrganization(membership));
  const projectIds = here.flatMap(({ project_id }) => project_id ?? []);
  const filter = everywhere ? organization : { ...organization, _id: { $in: projectIds } };
  const projects = await collections.projects
    .find(filter, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(maxProjects)
    .toArray();
  return [...new Set([principal.projectId, ...projects.map(({ _id }) => _id)])];
}
