import { literalPattern } from '../base/text.js';
import { maxCount } from '../stores/lists.js';
import type { Collections } from '../stores/collections.js';
import { rolesOf, toRoles, type Roles } from './grants.js';
import { findProjectWithRoles } from './project-roles.js';

/** A project on which a person has a role. A token can be bound to it. */
export interface ProjectChoice extends Roles {
  projectId: string;
  project: string;
  organizationId: string;
  organization: string;
  departmentId: string;
  department: string;
}

export interface ProjectChoices {
  shown: readonly ProjectChoice[];
  /** The number of matching projects, which can exceed the number shown. */
  total: number;
}

const maxShown = 200;
/** From this number of projects on, the page offers a search by name. */
export const manyChoices = 20;

/** Formats roles as `project admin, approver`. */
export function roleNames(roles: readonly string[]): string {
  return roles.map((role) => role.toLowerCase().replaceAll('_', ' ')).join(', ');
}

/**
 * Lists the projects that a person can choose from, oldest first as at sign-in, filtered by a part of their name.
 * @param fits whether the highest role on a project suffices; by default, each role does
 */
export async function findProjectChoices(
  collections: Collections,
  userId: string,
  named: string,
  fits: (role: string) => boolean = () => true,
): Promise<ProjectChoices> {
  const held = await collections.memberships.find({ user_id: userId }).toArray();
  const memberships = held.filter(({ role }) => fits(role));
  const organizations = memberships.filter(({ project_id }) => project_id === null);
  const single = memberships.flatMap(({ project_id }) => project_id ?? []);
  const reach = [
    { organization_id: { $in: organizations.map(({ organization_id }) => organization_id) } },
    { _id: { $in: single } },
  ];
  const name = named === '' ? {} : { name: { $regex: literalPattern(named), $options: 'i' } };
  const filter = { $or: reach, status: { $ne: 'deleted' as const }, ...name };
  const [projects, total] = await Promise.all([
    collections.projects.find(filter).sort({ _id: 1 }).limit(maxShown).toArray(),
    collections.projects.countDocuments(filter, { limit: maxCount }),
  ]);
  const roles = new Map(memberships.map((each) => [each.project_id ?? each.organization_id, toRoles(rolesOf(each))]));
  const names = await namesOf(collections, projects);
  const shown = projects.flatMap((project) => {
    const own = roles.get(project.organization_id) ?? roles.get(project._id);
    return own ? [toChoice(project, own, names)] : [];
  });
  return { shown, total };
}

/** Returns one project with the current role of the person, or undefined if they have no role on it. */
export async function findProjectChoice(
  collections: Collections,
  userId: string,
  projectId: string,
): Promise<ProjectChoice | undefined> {
  const found = await findProjectWithRoles(collections, userId, projectId);
  return found && toChoice(found.project, found, await namesOf(collections, [found.project]));
}

interface ProjectPart {
  _id: string;
  name: string;
  organization_id: string;
  department_id: string;
}

/** Returns the names by id. Omits organizations and departments without a record, whose ids are shown instead. */
async function namesOf(
  collections: Collections,
  projects: readonly ProjectPart[],
): Promise<ReadonlyMap<string, string>> {
  const ids = (key: 'organization_id' | 'department_id') => ({
    _id: { $in: [...new Set(projects.map((project) => project[key]))] },
  });
  const [organizations, departments] = await Promise.all([
    collections.organizations.find(ids('organization_id')).toArray(),
    collections.departments.find(ids('department_id')).toArray(),
  ]);
  return new Map([...organizations, ...departments].map(({ _id, name }) => [_id, name]));
}

function toChoice(project: ProjectPart, { role, roles }: Roles, names: ReadonlyMap<string, string>): ProjectChoice {
  const { organization_id: organizationId, department_id: departmentId } = project;
  return {
    projectId: project._id,
    project: project.name,
    organizationId,
    organization: names.get(organizationId) ?? organizationId,
    departmentId,
    department: names.get(departmentId) ?? departmentId,
    role,
    roles,
  };
}
