import { AppError } from '../base/errors.js';
import type { AuthDeps } from './create-auth.js';
import {
  defaultGrants,
  grantsOfWork,
  haveSameRoles,
  rolesOf,
  toRoles,
  toStoredRoles,
  type Grant,
  type Roles,
} from './grants.js';
import { seesWholeOrganization, type Principal } from './principal.js';
import { findActiveProject } from './project-roles.js';
import { rolesOn, type ProjectRef } from './users.js';

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
 * Returns the principal of a user on a project, with the user's current roles there instead of those in the token.
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
  const held = externalRoles(principal, project) ?? (await rolesOn(collections, principal.userId, project));
  if (!held) return undefined;
  const { roles: _before, ...caller } = principal;
  return {
    ...caller,
    organizationId: project.organization_id,
    departmentId: project.department_id,
    projectId: project._id,
    ...toStoredRoles(held.roles),
    grants: grantsOn(principal, projectId, held),
  };
}

/**
 * Returns the roles in an external token, which apply to the token's own project. An organization-wide role applies to
 * all projects of the organization.
 */
function externalRoles(principal: Principal, project: ProjectRef): Roles | undefined {
  if (!principal.isExternal || project.organization_id !== principal.organizationId) return undefined;
  const applies = project._id === principal.projectId || seesWholeOrganization(principal);
  return applies ? toRoles(rolesOf(principal)) : undefined;
}

function grantsOn({ tokenGrants, ...principal }: Principal, projectId: string, held: Roles): readonly Grant[] {
  if (!tokenGrants) return defaultGrants(held.role);
  if (projectId === principal.projectId && haveSameRoles(held, principal)) return tokenGrants;
  return grantsOfWork(held.roles).filter((grant) => tokenGrants.includes(grant));
}
