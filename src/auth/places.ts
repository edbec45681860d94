import type { Collections } from '../stores/collections.js';
import { standingOn } from './standing.js';

/** A project on which a person has a role: what a token can be pinned to. */
export interface Place {
  projectId: string;
  project: string;
  organizationId: string;
  organization: string;
  departmentId: string;
  department: string;
  role: string;
}

export interface Places {
  shown: readonly Place[];
  /** How many there are, which may be more than are shown. */
  total: number;
}

const mostShown = 200;
/** From this many on, a page lets a person look for one by its name. */
export const manyPlaces = 20;

/** `PROJECT_ADMIN` as people read it. */
export function roleName(role: string): string {
  return role.toLowerCase().replaceAll('_', ' ');
}

/** The projects that a person may pick from, oldest first as at sign-in; `named` narrows them by a part of their name. */
export async function placesOf(collections: Collections, userId: string, named: string): Promise<Places> {
  const memberships = await collections.memberships.find({ user_id: userId }).toArray();
  const organizations = memberships.filter(({ project_id }) => project_id === null);
  const single = memberships.flatMap(({ project_id }) => project_id ?? []);
  const reach = [{ organization_id: { $in: organizations.map(({ organization_id }) => organization_id) } }, { _id: { $in: single } }];
  const name = named === '' ? {} : { name: { $regex: named.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), $options: 'i' } };
  const filter = { $or: reach, status: { $ne: 'deleted' as const }, ...name };
  const [projects, total] = await Promise.all([
    collections.projects.find(filter).sort({ _id: 1 }).limit(mostShown).toArray(),
    collections.projects.countDocuments(filter),
  ]);
  const roles = new Map(memberships.map(({ organization_id, project_id, role }) => [project_id ?? organization_id, role]));
  const names = await namesOf(collections, projects);
  const shown = projects.flatMap((project) => {
    const role = roles.get(project.organization_id) ?? roles.get(project._id);
    return role === undefined ? [] : [placeOf(project, role, names)];
  });
  return { shown, total };
}

/** One place, by the role that the person has there now; undefined where there is none. */
export async function placeFor(collections: Collections, userId: string, projectId: string): Promise<Place | undefined> {
  const standing = await standingOn(collections, userId, projectId);
  return standing && placeOf(standing.project, standing.role, await namesOf(collections, [standing.project]));
}

interface ProjectPart {
  _id: string;
  name: string;
  organization_id: string;
  department_id: string;
}

/** Records of organizations and departments may be missing; their ids then stand for them. */
async function namesOf(collections: Collections, projects: readonly ProjectPart[]): Promise<ReadonlyMap<string, string>> {
  const ids = (key: 'organization_id' | 'department_id') => ({ _id: { $in: [...new Set(projects.map((project) => project[key]))] } });
  const [organizations, departments] = await Promise.all([
    collections.organizations.find(ids('organization_id')).toArray(),
    collections.departments.find(ids('department_id')).toArray(),
  ]);
  return new Map([...organizations, ...departments].map(({ _id, name }) => [_id, name]));
}

function placeOf(project: ProjectPart, role: string, names: ReadonlyMap<string, string>): Place {
  const { organization_id: organizationId, department_id: departmentId } = project;
  return {
    projectId: project._id,
    project: project.name,
    organizationId,
    organization: names.get(organizationId) ?? organizationId,
    departmentId,
    department: names.get(departmentId) ?? departmentId,
    role,
  };
}
