import {
  addAgent,
  createAgentflow,
  deleteAgentflow,
  listAgentflows,
  listVersions,
  promoteAgentflow,
  readAgentflow,
  readAgentflowForUser,
  readVersion,
  updateAgent,
  updateAgentflow,
} from '../../domain/agentflows/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'agentflows';

const readRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/agentflow',
    operation: listAgentflows,
    tag,
    summary: 'List the agentflows of the project',
    response: { description: 'Agentflows, newest first.' },
  }),
  operationRoute({
    method: 'get',
    path: '/agentflow/{id}',
    operation: readAgentflow,
    tag,
    summary: 'Read an agentflow',
    response: { description: 'The agentflow.' },
  }),
  operationRoute({
    method: 'get',
    path: '/agentflow/{agentflow_id}/user/{executed_by}/project/{projectID}',
    operation: readAgentflowForUser,
    tag,
    summary: 'Read an agentflow of a project on behalf of the user who executes it',
    response: { description: 'The agentflow.' },
  }),
  operationRoute({
    method: 'get',
    path: '/agentflow/{id}/versions',
    operation: listVersions,
    tag,
    summary: 'List the promoted versions of an agentflow',
    response: { description: 'The promotions, newest first.' },
  }),
  operationRoute({
    method: 'get',
    path: '/agentflow/{id}/versions/{version}',
    operation: readVersion,
    tag,
    summary: 'Read a promoted version of an agentflow',
    response: { description: 'The agentflow as it was promoted.' },
  }),
];

const changeRoutes: readonly Route[] = [
  operationRoute({
    method: 'post',
    path: '/agentflow',
    operation: createAgentflow,
    tag,
    summary: 'Create an agentflow',
    description:
      'An agentflow without agents is a draft, which can be saved but not executed. Omitted ids are generated.',
    response: { status: 201, description: 'The stored agentflow.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'patch',
    path: '/agentflow/{id}',
    operation: updateAgentflow,
    tag,
    summary: 'Change the given fields of an agentflow',
    description: '`agents`, if given, replaces all agents.',
    response: { description: 'The changed agentflow.' },
  }),
  operationRoute({
    method: 'delete',
    path: '/agentflow/{id}',
    operation: deleteAgentflow,
    tag,
    summary: 'Delete an agentflow',
    description:
      'The agentflow is marked as deleted and can no longer be read, listed or executed. Executions keep their embedded copies.',
    response: { description: 'The last record.' },
  }),
  operationRoute({
    method: 'post',
    path: '/agentflow/{id}/promote',
    operation: promoteAgentflow,
    tag,
    summary: 'Freeze the agentflow as its next version',
    description: '`/v1/run-agent` runs the promoted version, regardless of later edits.',
    response: { description: 'The version.' },
  }),
];

const agentRoutes: readonly Route[] = [
  operationRoute({
    method: 'post',
    path: '/agentflow/{id}/agent',
    operation: addAgent,
    tag,
    summary: 'Add a skilled agent',
    description: 'The agent is appended to `agents`. It only runs if the `next_agent` of another agent refers to it.',
    response: { status: 201, description: 'The agentflow with the new agent.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'post',
    path: '/agentflow/{id}/agent/{agent_id}',
    operation: updateAgent,
    tag,
    summary: 'Change the given fields of a skilled agent',
    description: '`skills`, if given, replaces all skills.',
    response: { description: 'The agentflow with the changed agent.' },
  }),
];

/** Agentflows with their agents, skills and actions embedded (contract, agentflows; specification, Agentflow). */
export const agentflowRoutes: readonly Route[] = [...readRoutes, ...changeRoutes, ...agentRoutes];
