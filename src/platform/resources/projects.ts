import type { Filter } from 'mongodb';
import { z } from 'zod';
import { seesWholeOrganization, type Principal } from '../../auth/principal.js';
import { AppError, isAppError, notFound } from '../../errors.js';
import type { RequestContext } from '../../http/context.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { listOf, listPage, ListQuery } from '../../http/lists.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce, isDuplicateKey } from '../../stores/mongo.js';
import { epochSeconds } from '../../time.js';
import { removeProject, type ProjectRemovalDeps as ProjectDeps } from './project-removal.js';

const ProjectName = z.string().trim().min(1).max(200);
const Description = z.string().max(10_000);
/** `archived` is a mark for lists and stops nothing. */
const LivingStatus = z.enum(['active', 'archived']);

export const Project = z
  .object({
    _id: z.string(),
    name: z.string().meta({ description: 'Unique within the organization.' }),
    description: z.string(),
    organization_id: z.string(),
    department_id: z.string(),
    user_id: z.string().meta({ description: 'Who made it.' }),
    status: z.enum([...LivingStatus.options, 'deleted']).meta({ description: 'Only the answer to DELETE says `deleted`.' }),
    created_at: z.number().meta({ description: 'Epoch seconds.' }),
    updated_at: z.number().meta({ description: 'Epoch seconds.' }),
  })
  .meta({
    id: 'Project',
    example: {
      _id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10',
      name: 'Claims desk',
      description: 'Coworkers that prepare claims for review',
      organization_id: 'org_1',
      department_id: 'dept_1',
      user_id: 'user_1',
      status: 'active',
      created_at: 1763683200.125,
      updated_at: 1763683200.125,
    },
  });
export type Project = z.infer<typeof Project>;

export type ProjectDocument = Project;

export const NewProject = z
  .strictObject({ name: ProjectName, description: Description.default(''), organization_id: z.string().optional() })
  .meta({ id: 'NewProject', example: { name: 'Claims desk', description: 'Coworkers that prepare claims for review' } });
export type NewProject = z.infer<typeof NewProject>;

export const ProjectPatch = z
  .strictObject({ name: ProjectName, description: Description, status: LivingStatus })
  .partial()
  .meta({ id: 'ProjectPatch', example: { description: 'Claims of the northern region' } });
export type ProjectPatch = z.infer<typeof ProjectPatch>;

const ProjectQuery = ListQuery.extend({
  status: LivingStatus.optional(),
  userId: z.string().optional().meta({ description: 'Only projects that this user made.' }),
  organization_id: z.string().optional(),
});
type ProjectQuery = z.infer<typeof ProjectQuery>;

const tag = 'projects';
const reads = 'svc:orchestrate.read';
const changes = 'svc:orchestrate.write';
const scope = 'organization';
const params = z.object({ project_id: z.string() });

/**
 * Projects (contract, projects). Owners and organization administrators see and manage every project of their
 * organization, anyone else the one project of the credential; an existing project beyond that is 403, an unknown one 404.
 */
export function projectRoutes(deps: ProjectDeps): Route[] {
  const { collections } = deps.mongo;
  return [...listRoutes(collections), ...recordRoutes(collections), ...changeRoutes(deps)];
}

function listRoutes(collections: Collections): Route[] {
  const response = { schema: listOf(Project), description: 'Projects, newest first; deleted ones are never listed.' };
  return [
    defineRoute({
      method: 'get',
      path: '/v1/project',
      permission: reads,
      tag,
      scope,
      response,
      summary: 'List the projects that the credential can see',
      query: ProjectQuery,
      handler: ({ ctx, query }) => listProjects(collections, ctx.principal, query),
    }),
    defineRoute({
      method: 'get',
      path: '/v1/project/all',
      permission: reads,
      tag,
      scope,
      response,
      summary: 'List the projects of a user in the whole organization',
      query: ListQuery.extend({ userId: z.string().min(1) }),
      handler: ({ ctx, query }) => listProjects(collections, ctx.principal, query),
    }),
  ];
}

function recordRoutes(collections: Collections): Route[] {
  const response = { schema: Project, description: 'The project.' };
  return [
    defineRoute({
      method: 'get',
      path: '/v1/project/name/{project_name}',
      permission: reads,
      tag,
      scope,
      response,
      summary: 'Read a project by its name',
      params: z.object({ project_name: z.string() }),
      handler: ({ ctx, params: { project_name } }) => readProjectByName(collections, ctx.principal, project_name),
    }),
    defineRoute({
      method: 'get',
      path: '/v1/project/{project_id}',
      permission: reads,
      tag,
      scope,
      response,
      params,
      summary: 'Read a project',
      handler: ({ ctx, params: { project_id } }) => readProject(collections, ctx.principal, project_id),
    }),
  ];
}

function changeRoutes(deps: ProjectDeps): Route[] {
  const { collections } = deps.mongo;
  return [
    defineRoute({
      method: 'post',
      path: '/v1/project',
      permission: changes,
      tag,
      scope,
      summary: 'Create a project',
      description: 'For owners and organization administrators.',
      body: NewProject,
      response: { status: 201, schema: Project, description: 'The new project.' },
      errors: ['conflict', 'plan_limit'],
      idempotent: true,
      handler: ({ ctx, body }) => createOwnProject(deps, ctx, body),
    }),
    defineRoute({
      method: 'patch',
      path: '/v1/project/{project_id}',
      permission: changes,
      tag,
      scope,
      params,
      summary: 'Change the given fields of a project',
      body: ProjectPatch,
      response: { schema: Project, description: 'The project as changed.' },
      errors: ['conflict'],
      handler: ({ ctx, params: { project_id }, body }) => updateProject(collections, ctx.principal, project_id, body),
    }),
    defineRoute({
      method: 'delete',
      path: '/v1/project/{project_id}',
      permission: changes,
      tag,
      scope,
      params,
      summary: 'Delete a project',
      description:
        'The record is kept, but no longer read or listed, its name is free, and its API keys and sessions end. Its agentflows, schedules and connectors go with it, and what runs or waits to run in it is cancelled, soon after the answer. The project of the credential itself cannot be deleted.',
      response: { schema: Project, description: 'The last record.' },
      errors: ['conflict', 'unavailable'],
      handler: ({ ctx, params: { project_id } }) => deleteProject(deps, ctx.principal, project_id),
    }),
  ];
}

type ProjectSeed = Pick<Project, '_id' | 'name' | 'organization_id' | 'department_id' | 'user_id'> & { description?: string };

/**
 * Stores a project; for an `_id` that is there already (a repeat after a crash) it answers that record.
 * @throws AppError `conflict` when the organization has a project of this name
 */
export async function createProject(collections: Collections, seed: ProjectSeed): Promise<Project> {
  const at = epochSeconds();
  const project: ProjectDocument = { description: '', ...seed, status: 'active', created_at: at, updated_at: at };
  try {
    return await insertOnce(collections.projects, project);
  } catch (error) {
    throw isDuplicateKey(error) ? nameTaken(seed.name, error) : error;
  }
}

async function createOwnProject({ mongo, customers }: ProjectDeps, ctx: RequestContext, input: NewProject): Promise<Project> {
  const { principal, recordId } = ctx;
  requireOrganization(principal, input.organization_id);
  if (!seesWholeOrganization(principal)) {
    throw new AppError('access_denied', 'projects are made by owners and administrators of the organization');
  }
  await customers.reserve(principal.organizationId, 'number_of_workspaces', recordId);
  const seed = {
    _id: recordId,
    name: input.name,
    description: input.description,
    organization_id: principal.organizationId,
    department_id: principal.departmentId,
    user_id: principal.userId,
  };
  return createProject(mongo.collections, seed).catch(async (error: unknown) => {
    if (isAppError(error)) await customers.release(principal.organizationId, 'number_of_workspaces', recordId);
    throw error;
  });
}

async function listProjects(collections: Collections, principal: Principal, query: Partial<ProjectQuery> & ListQuery) {
  requireOrganization(principal, query.organization_id);
  const filter: Filter<ProjectDocument> = {
    organization_id: principal.organizationId,
    status: query.status ?? { $ne: 'deleted' },
    ...(query.userId === undefined ? {} : { user_id: query.userId }),
    // In `$and`, since the cursor of a page is a condition on `_id` too and would take its place.
    ...(seesWholeOrganization(principal) ? {} : { $and: [{ _id: principal.projectId }] }),
  };
  return listPage(collections.projects, filter, query);
}

/** @throws AppError `not_found`, also for a deleted one; `access_denied` for one that the principal may not see */
export async function readProject(collections: Collections, principal: Principal, id: string): Promise<Project> {
  return admitted(principal, await collections.projects.findOne({ _id: id }));
}

async function readProjectByName(collections: Collections, principal: Principal, name: string): Promise<Project> {
  return admitted(principal, await collections.projects.findOne({ organization_id: principal.organizationId, name }));
}

async function updateProject(collections: Collections, principal: Principal, id: string, patch: ProjectPatch): Promise<Project> {
  await readProject(collections, principal, id);
  try {
    const updated = await collections.projects.findOneAndUpdate(
      { _id: id, status: { $ne: 'deleted' } },
      { $set: { ...patch, updated_at: epochSeconds() } },
      { returnDocument: 'after' },
    );
    return admitted(principal, updated);
  } catch (error) {
    throw isDuplicateKey(error) ? nameTaken(patch.name ?? '', error) : error;
  }
}

async function deleteProject(deps: ProjectDeps, principal: Principal, id: string): Promise<Project> {
  const project = await readProject(deps.mongo.collections, principal, id);
  if (id === principal.projectId) throw new AppError('conflict', 'a credential cannot delete the project that it belongs to');
  await removeProject(deps, principal, project);
  return { ...project, status: 'deleted', updated_at: epochSeconds() };
}

function admitted(principal: Principal, project: Project | null): Project {
  if (!project || project.status === 'deleted') throw notFound('the project');
  const sameOrganization = project.organization_id === principal.organizationId;
  if (sameOrganization && (seesWholeOrganization(principal) || project._id === principal.projectId)) return project;
  throw new AppError('access_denied', 'this project is outside the scope of the credential');
}

function requireOrganization(principal: Principal, organizationId: string | undefined): void {
  if (organizationId === undefined || organizationId === principal.organizationId) return;
  throw new AppError('access_denied', 'organization_id: outside the scope of the credential');
}

function nameTaken(name: string, cause: unknown): AppError {
  return new AppError('conflict', `name: the organization has a project ${JSON.stringify(name)} already`, { cause });
}
