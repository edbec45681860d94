import type { AuthDeps } from '../../../auth/create-auth.js';
import { findProjectWithRole } from '../../../auth/project-roles.js';
import type { CurrentRole } from '../../../auth/oauth/access-token.js';
import type { OauthGrantDocument } from '../../../auth/oauth/grants.js';

/**
 * Returns the person's current role on the project of the grant, or undefined if the project, the account or the role
 * no longer exists.
 */
export async function readCurrentRole(
  { mongo: { collections } }: Pick<AuthDeps, 'mongo'>,
  grant: Pick<OauthGrantDocument, 'user_id' | 'project_id'>,
): Promise<CurrentRole | undefined> {
  const [user, current] = await Promise.all([
    collections.users.findOne({ _id: grant.user_id }),
    findProjectWithRole(collections, grant.user_id, grant.project_id),
  ]);
  if (!user || !current) return undefined;
  const { project, role } = current;
  return { role, organization_id: project.organization_id, department_id: project.department_id };
}
