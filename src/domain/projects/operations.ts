import type { Filter } from 'mongodb';
import { z } from 'zod';
import { isPerson, seesWholeOrganization, type Principal } from '../../auth/principal.js';
import { AppError, isAppError, notFound } from '../../base/errors.js';
import { freeText, textFacts } from '../../governance/operations/operation.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import { epochSeconds } from '../../base/time.js';
import { defineOperation, manages, readsOwn } from '../operation.js';
import { removeProject } from './removal.js';
import { NewProject, Project, ProjectPatch, ProjectQuery, type ProjectSeed } from './record.js';
import { ProjectId, UserId } from '../../base/ids.js';
export { projectsCollection } from './record.js';

const key = z.object({ project_id: ProjectId });

export const listProjects = defineOperation({
  name: 'project.list',
  ...readsOwn,
  input: ProjectQuery,
  output: listOf(Project),
  run: ({ deps, ctx, input }) => pageOfProjects(deps.mongo.collections, ctx.principal, input),
});

export const listProjectsOfUser = defineOperation({
  name: 'project.list-of-user',
  ...readsOwn,
  input: ListQuery.extend({ userId: UserId.min(1) }),
  output: listOf(Project),
  run: ({ deps, ctx, input }) => pageOfProjects(deps.mongo.collections, ctx.principal, input),
});

/** Throws `access_denied` for a project that the principal may not see. */
export const readProject = defineOperation({
  name: 'project.read',
  ...readsOwn,
  key,
  output: Project,
  run: ({ deps, ctx, key: { project_id } }) => findProject(deps.mongo.collections, ctx.principal, project_id),
});

export const readProjectByName = defineOperation({
  name: 'project.read-by-name',
  ...readsOwn,
  key: z.object({ project_name: z.string().meta({ example: 'Claims desk' }) }),
  output: Project,
  async run({ deps, ctx: { principal }, key: { project_name: name } }) {
    const { projects } = deps.mongo.collections;
    const named = { organization_id: principal.organizationId, name: name.normalize() };
    return admitted(principal, await projects.findOne(named));
  },
});

export const createProject = defineOperation({
  name: 'project.create',
  ...manages,
  facts: { name: freeText('name') },
  input: NewProject,
  output: Project,
  errors: ['conflict', 'plan_limit'],
  async run({ deps: { mongo, customers }, ctx: { principal, recordId }, input: { organization_id, ...fields } }) {
    requireOrganization(principal, organization_id);
    if (!seesWholeOrganization(principal)) {
      throw new AppError('access_denied', 'only owners and administrators of the organization can create projects');
    }
    await customers.reserve(principal.organizationId, 'number_of_workspaces', recordId);
    const seed = {
      _id: recordId,
      ...fields,
      organization_id: principal.organizationId,
      department_id: principal.departmentId,
      user_id: principal.userId,
    };
    return storeProject(mongo.collections, seed).catch(async (error: unknown) => {
      if (isAppError(error)) await customers.release(principal.organizationId, 'number_of_workspaces', recordId);
      throw error;
    });
  },
});

export const updateProject = defineOperation({
  name: 'project.update',
  ...manages,
  facts: textFacts('project_id'),
  key,
  input: ProjectPatch,
  output: Project,
  errors: ['conflict'],
  async run({ deps, ctx: { principal }, key: { project_id: _id }, input: patch }) {
    const { collections } = deps.mongo;
    await findChangeableProject(collections, principal, _id);
    try {
      const updated = await collections.projects.findOneAndUpdate(
        { _id, status: { $ne: 'deleted' } },
        { $set: { ...patch, updated_at: epochSeconds() } },
        { returnDocument: 'after' },
      );
      return admitted(principal, updated);
    } catch (error) {
      throw isDuplicateKey(error) ? nameTaken(patch.name ?? '', error) : error;
    }
  },
});

export const deleteProject = defineOperation({
  name: 'project.delete',
  ...manages,
  facts: textFacts('project_id'),
  key,
  output: Project,
  errors: ['conflict', 'unavailable'],
  async run({ deps, ctx: { principal }, key: { project_id } }) {
    const project = await findChangeableProject(deps.mongo.collections, principal, project_id);
    if (project_id === principal.projectId)
      throw new AppError('conflict', 'a credential cannot delete its own project');
    await removeProject(deps, principal, project);
    return { ...project, status: 'deleted' as const, updated_at: epochSeconds() };
  },
});

/**
 * Stores a project, or returns the existing record with this `_id` (a repeat after a crash).
 * @throws AppError `conflict` if the organization already has a project with this name
 */
export async function storeProject(collections: Collections, seed: ProjectSeed): Promise<Project> {
  const at = epochSeconds();
  const project: Project = { description: '', ...seed, status: 'active', created_at: at, updated_at: at };
  try {
    return await insertOnce(collections.projects, project);
  } catch (error) {
    throw isDuplicateKey(error) ? nameTaken(seed.name, error) : error;
  }
}

async function pageOfProjects(
  collections: Collections,
  principal: Principal,
  query: Partial<ProjectQuery> & ListQuery,
) {
  requireOrganization(principal, query.organization_id);
  const filter: Filter<Project> = {
    organization_id: principal.organizationId,
    status: query.status ?? { $ne: 'deleted' },
    ...(query.userId === undefined ? {} : { user_id: query.userId }),
    // In `$and`, because the page cursor is also a condition on `_id` and would overwrite this one.
    ...(seesWholeOrganization(principal) ? {} : { $and: [{ _id: principal.projectId }] }),
  };
  return listPage(collections.projects, filter, query);
}

/** @throws AppError `not_found` for an unknown or deleted project, `access_denied` if the principal may not see it */
async function findProject(collections: Collections, principal: Principal, id: string): Promise<Project> {
  return admitted(principal, await collections.projects.findOne({ _id: id }));
}

/** @throws AppError as `findProject`, and `access_denied` if an API key changes a project other than its own */
async function findChangeableProject(collections: Collections, principal: Principal, id: string): Promise<Project> {
  const project = await findProject(collections, principal, id);
  if (id === principal.projectId || isPerson(principal)) return project;
  throw new AppError('access_denied', 'an API key can only change its own project: use a user token or a session');
}

function admitted(principal: Principal, project: Project | null): Project {
  if (!project || project.status === 'deleted') throw notFound('the project');
  const sameOrganization = project.organization_id === principal.organizationId;
  if (sameOrganization && (seesWholeOrganization(principal) || project._id === principal.projectId)) return project;
  throw new AppError('access_denied', 'the credential has no access to this project');
}

function requireOrganization(principal: Principal, organizationId: string | undefined): void {
  if (organizationId === undefined || organizationId === principal.organizationId) return;
  throw new AppError('access_denied', 'organization_id: the credential has no access to this organization');
}

function nameTaken(name: string, cause: unknown): AppError {
  return new AppError('conflict', `name: the organization already has a project ${JSON.stringify(name)}`, { cause });
}
