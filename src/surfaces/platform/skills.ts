import { createSkill, deleteSkill, listSkills, readSkill } from '../../domain/skills/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('skills');

/** Standalone skills of a project, which are not embedded in agents (contract, skills). */
export const skillRoutes: readonly Route[] = [
  route('POST /skill', createSkill, {
    summary: 'Create a skill',
    response: { status: 201, description: 'The stored skill.' },
    idempotent: true,
  }),
  route('GET /skill', listSkills, {
    summary: 'List skills, newest first',
    response: { description: 'One page of skills.' },
  }),
  route('GET /skill/{id}', readSkill, { summary: 'Read a skill', response: { description: 'The skill.' } }),
  route('DELETE /skill/{id}', deleteSkill, {
    summary: 'Delete a skill',
    response: { description: 'The last record. Agents keep their embedded copies.' },
  }),
];
