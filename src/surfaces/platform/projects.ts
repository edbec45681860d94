import * as projects from '../../domain/projects/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('projects');
const scope = 'organization';
const page = { description: 'Projects, newest first, without deleted projects.' };
const project = { description: 'The project.' };

const readRoutes: readonly Route[] = [
  route('GET /v1/project', projects.listProjects, {
    scope,
    summary: 'List the projects that the credential can see',
    response: page,
  }),
  route('GET /v1/project/all', projects.listProjectsOfUser, {
    scope,
    summary: 'List the projects of a user in the whole organization',
    response: page,
  }),
  route('GET /v1/project/name/{project_name}', projects.readProjectByName, {
    scope,
    summary: 'Read a project by its name',
    response: project,
  }),
  route('GET /v1/project/{project_id}', projects.readProject, { scope, summary: 'Read a project', response: project }),
];

/**
 * Projects (contract, projects; docs/decisions/0017). Credentials of an OWNER or ORG_ADMIN see all projects of the
 * organization; others see only their own project. Only a user with such a role can change other projects. The response
 * is 403 for a project that the credential cannot access, and 404 for an unknown project.
 */
export const projectRoutes: readonly Route[] = [
  ...readRoutes,
  route('POST /v1/project', projects.createProject, {
    scope,
    summary: 'Create a project',
    description: 'Requires the role OWNER or ORG_ADMIN.',
    response: { status: 201, description: 'The new project.' },
    idempotent: true,
  }),
  route('PATCH /v1/project/{project_id}', projects.updateProject, {
    scope,
    summary: 'Change the given fields of a project',
    response: { description: 'The changed project.' },
  }),
  route('DELETE /v1/project/{project_id}', projects.deleteProject, {
    scope,
    summary: 'Delete a project',
    description:
      'The project can no longer be read or listed, its name can be reused, and its API keys and sessions are revoked. Shortly after the response, its agentflows, schedules and connectors are deleted, and its open executions are cancelled. A credential cannot delete its own project.',
    response: { description: 'The last record.' },
  }),
];
