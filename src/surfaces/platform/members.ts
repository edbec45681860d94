import { addMember, changeMember, countMembers, listMembers, removeMember } from '../../domain/members/operations.js';
import { invite, listInvitations, withdrawInvitation } from '../../domain/invitations/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('members');

/** The members of a project and their roles (contract, members). */
export const memberRoutes: readonly Route[] = [
  route('GET /project-member/{projectID}/summary', countMembers, {
    summary: 'Count the members of the project (in development)',
    description: 'In development: fields may be added.',
    response: { description: 'The number of members and their ids.' },
  }),
  route('GET /project-member/{projectID}', listMembers, {
    summary: 'List the members of the project, newest first',
    response: { description: 'Users with a role on the project or on the whole organization.' },
  }),
  route('POST /project-member/{projectID}', addMember, {
    summary: 'Add a user of the organization as a member',
    description:
      'Only administrators can add members. Nobody can give a role with rights or grants that they do not have. The roles OWNER and ORG_ADMIN apply to every project; only users can grant them, not API keys.',
    response: { status: 201, description: 'The member.' },
    idempotent: true,
  }),
  route('GET /project-member/{projectID}/invitations', listInvitations, {
    summary: 'List the open invitations, newest first',
    response: { description: 'The invitations without their links.' },
  }),
  route('POST /project-member/{projectID}/invitations', invite, {
    summary: 'Invite a new person by a link',
    description:
      'The person opens the link and sets a name and a password. The link works once, until it expires, and only while the inviter may give the roles. Another invitation of the same address replaces it.',
    response: { status: 201, description: 'The invitation with its link, which is not shown again.' },
  }),
  route('DELETE /project-member/{projectID}/invitations/{invitation_id}', withdrawInvitation, {
    summary: 'Withdraw an invitation',
    response: { description: 'The last record.' },
  }),
  route('PATCH /project-member/{projectID}/{user_id}', changeMember, {
    summary: 'Change the roles of a member',
    description:
      'Immediately revokes the sessions, application tokens and API keys that the member had with the previous roles. The last OWNER cannot be changed.',
    response: { description: 'The changed member.' },
  }),
  route('DELETE /project-member/{projectID}/{user_id}', removeMember, {
    summary: 'Remove a member from the project',
    description:
      'Immediately revokes the sessions, application tokens and API keys of the member. An OWNER or ORG_ADMIN is removed from the organization. The last OWNER cannot be removed.',
    response: { description: 'The last record.' },
  }),
];
