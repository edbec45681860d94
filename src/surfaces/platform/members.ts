import { addMember, changeMember, countMembers, listMembers, removeMember } from '../../domain/members/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'members';

/** The members of a project and their roles (contract, members). */
export const memberRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/project-member/{projectID}/summary',
    operation: countMembers,
    tag,
    summary: 'Count the members of the project (in development)',
    description: 'In development: fields may be added.',
    response: { description: 'The number of members and their ids.' },
  }),
  operationRoute({
    method: 'get',
    path: '/project-member/{projectID}',
    operation: listMembers,
    tag,
    summary: 'List the members of the project, newest first',
    response: { description: 'Users with a role on the project or on the whole organization.' },
  }),
  operationRoute({
    method: 'post',
    path: '/project-member/{projectID}',
    operation: addMember,
    tag,
    summary: 'Add a user of the organization as a member',
    description:
      'Only administrators can add members, with a role that is not higher than their own. The roles OWNER and ORG_ADMIN apply to every project; only users can grant them, not API keys.',
    response: { status: 201, description: 'The member.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'patch',
    path: '/project-member/{projectID}/{user_id}',
    operation: changeMember,
    tag,
    summary: 'Change the role of a member',
    description:
      'Immediately revokes the sessions, application tokens and API keys that the member had with the previous role. The last OWNER cannot be changed.',
    response: { description: 'The changed member.' },
  }),
  operationRoute({
    method: 'delete',
    path: '/project-member/{projectID}/{user_id}',
    operation: removeMember,
    tag,
    summary: 'Remove a member from the project',
    description:
      'Immediately revokes the sessions, application tokens and API keys of the member. An OWNER or ORG_ADMIN is removed from the organization. The last OWNER cannot be removed.',
    response: { description: 'The last record.' },
  }),
];
