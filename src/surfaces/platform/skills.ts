import { createSkill, deleteSkill, listSkills, readSkill } from '../../domain/skills/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'skills';

/** Standalone skills of a project, which are not embedded in agents (contract, skills). */
export const skillRoutes: readonly Route[] = [
  operationRoute({
    method: 'post',
    path: '/skill',
    operation: createSkill,
    tag,
    summary: 'Create a skill',
    response: { status: 201, description: 'The stored skill.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'get',
    path: '/skill',
    operation: listSkills,
    tag,
    summary: 'List skills, newest first',
    response: { description: 'One page of skills.' },
  }),
  operationRoute({
    method: 'get',
    path: '/skill/{id}',
    operation: readSkill,
    tag,
    summary: 'Read a skill',
    response: { description: 'The skill.' },
  }),
  operationRoute({
    method: 'delete',
    path: '/skill/{id}',
    operation: deleteSkill,
    tag,
    summary: 'Delete a skill',
    response: { description: 'The last record. Agents keep their embedded copies.' },
  }),
];
