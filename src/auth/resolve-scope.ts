import { AppError } from '../errors.js';
import type { AuthDeps } from './create-auth.js';
import { defaultGrants, type Grant } from './grants.js';
import { seesWholeOrganization, type Principal } from './principal.js';
import { findActiveProject } from './project-roles.js';
import { roleOn, type ProjectRef } from './users.js';

export const workspaceHeader = 'X-Service-Workspace';
const prefix = 'ws_';

/** Returns the project that a workspace header names, whether or not the project exists. */
export function projectOfWorkspace(workspace: string | undefined): string | undefined {
  return workspace?.startsWith(prefix) ? workspace.slice(prefix.length) : undefined;
}

type Stores = Pick<AuthDeps, 'mongo'>;

/**
 * Applies the `X-Service-Workspace` header. An API key and a session are bound to one project. A user token reaches
 * every project on which its user has a role, with that role. Without the header, the principal keeps its project.
 * @throws AppError `scope_denied`; the same error for an inaccessible, an unknown and a malformed workspace
 */
export async function resolveScope(
  deps: Stores,
  principal: Principal,
  workspace: string | undefined,
): Promise<Principal> {
  if (workspace === undefined) return principal;
  const projectId = projectOfWorkspace(workspace) ?? '';
  if (projectId !== '' && projectId === principal.projectId) return principal;
  const scoped =
    principal.kind === 'user_jwt' && principal.clientId === undefined
      ? await scopeOn(deps, principal, projectId)
      : undefined;
  if (scoped) return scoped;
  throw new AppError('scope_denied', 'the workspace header names a project that this credential does not reach');
}

/**
 * Returns the principal of a user on a project, with the user's current role there instead of the role in the token.
 * @returns undefined if the project is unknown or deleted, or if the user has no role on it
 */
export async function scopeOn(
  { mongo }: Stores,
  principal: Principal,
  projectId: string,
): Promise<Principal | undefined> {
  const { collections } = mongo;
  const project = await findActiveProject(collections, projectId);
  if (!project) return undefined;
  const role = externalRole(principal, project) ?? (await roleOn(collections, principal.userId, project));
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

/**
 * Returns the role in an external token, which applies to the token's own project. An organization-wide role applies to
 * all projects of the organization.
 */
function externalRole(principal: Principal, project: ProjectRef): string | undefined {
  if (!principal.isExternal || project.organization_id !== principal.organizationId) return undefined;
  return project._id === principal.projectId || seesWholeOrganization(principal) ? principal.role : undefined;
}

function grantsOn({ tokenGrants, ...principal }: Principal, projectId: string, role: string): readonly Grant[] {
  if (!tokenGrants) return defaultGrants(role);
  if (projectId === principal.projectId && role === principal.role) return tokenGrants;
  return defaultGrants(role).filter((grant) => tokenGrants.includes(grant));
}
