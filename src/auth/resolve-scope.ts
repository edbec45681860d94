import { AppError } from '../errors.js';
import type { AuthDeps } from './create-auth.js';
import { defaultGrants, type Grant } from './grants.js';
import { seesWholeOrganization, type Principal } from './principal.js';
import { livingProject } from './standing.js';
import { roleOn, type ProjectRef } from './users.js';

const prefix = 'ws_';

type Stores = Pick<AuthDeps, 'mongo'>;

/**
 * The principal as it acts in the project that `X-Service-Workspace` names. A key and a session have one project;
 * a user token reaches every project on which its user has a role, with that role. Without the header: its own.
 * @throws AppError `S2:resolve-scope` (403), the same for a foreign, an unknown and a malformed workspace
 */
export async function resolveScope(deps: Stores, principal: Principal, workspace: string | undefined): Promise<Principal> {
  if (workspace === undefined) return principal;
  const projectId = workspace.startsWith(prefix) ? workspace.slice(prefix.length) : '';
  if (projectId !== '' && projectId === principal.projectId) return principal;
  const scoped = principal.kind === 'user_jwt' && principal.clientId === undefined ? await scopeOn(deps, principal, projectId) : undefined;
  if (scoped) return scoped;
  throw new AppError('S2:resolve-scope', 'the workspace header names a project that this credential does not reach');
}

/**
 * A user's principal on a project, by the role that the user has there now, whatever the token says.
 * @returns undefined where the project is unknown or deleted, or the user has no role on it
 */
export async function scopeOn({ mongo }: Stores, principal: Principal, projectId: string): Promise<Principal | undefined> {
  const { collections } = mongo;
  const project = await livingProject(collections, projectId);
  if (!project) return undefined;
  const role = outsideRole(principal, project) ?? (await roleOn(collections, principal.userId, project));
  if (role === undefined) return undefined;
  return {
    ...principal,
    organizationId: project.organization_id,
    departmentId: project.department_id,
    projectId: project._id,
    role,
    grants: grantsOn(principal, projectId, role),
  };
}

/** The identity provider tells the role on the token's own project, and on all of its organization for such a role. */
function outsideRole(principal: Principal, project: ProjectRef): string | undefined {
  if (!principal.outside || project.organization_id !== principal.organizationId) return undefined;
  return project._id === principal.projectId || seesWholeOrganization(principal) ? principal.role : undefined;
}

function grantsOn({ tokenGrants, ...principal }: Principal, projectId: string, role: string): readonly Grant[] {
  if (!tokenGrants) return defaultGrants(role);
  if (projectId === principal.projectId && role === principal.role) return tokenGrants;
  return defaultGrants(role).filter((grant) => tokenGrants.includes(grant));
}
