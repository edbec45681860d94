import { z } from 'zod';
import { toStoredRoles } from '../../auth/grants.js';
import { isPerson } from '../../auth/principal.js';
import { secretTokens } from '../../auth/secret-token.js';
import { findUserByEmail, normalizeEmail } from '../../auth/users.js';
import { AppError, notFound } from '../../base/errors.js';
import { sha256Hex } from '../../base/hash.js';
import { Id, newId } from '../../base/ids.js';
import { epochSeconds } from '../../base/time.js';
import { freeText, textFacts } from '../../governance/operations/operation.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import { addMember, requireAuthorityOver, roleFacts } from '../members/operations.js';
import { rolesAsked } from '../members/record.js';
import { defineOperation, manages, reads } from '../operation.js';
import { Invitation, InvitationWithLink, NewInvitation, toInvitation, type InvitationDocument } from './record.js';
export { invitationsCollection } from './record.js';

export const invitationTokens = secretTokens('svc_inv_');

/**
 * Creates a link for a new person. An earlier invitation of the same address to the project ends. Only a person invites:
 * whoever accepts gets the roles only if the inviter may still give them.
 */
export const invite = defineOperation({
  name: 'member.invite',
  ...manages,
  facts: { email: freeText('email'), ...roleFacts },
  causes: [{ operation: addMember, calls: ({ email, role, roles }) => [{ input: { email, role, roles } }] }],
  input: NewInvitation,
  output: InvitationWithLink,
  errors: ['conflict'],
  async run({ deps, ctx: { principal, baseUrl }, input }) {
    const { users, invitations } = deps.mongo.collections;
    const { organizationId: organization_id, projectId: project_id } = principal;
    const roles = rolesAsked(input);
    if (!isPerson(principal) || principal.isExternal || !(await users.findOne({ _id: principal.userId })))
      throw new AppError('access_denied', 'only a person with an account in this service can invite');
    requireAuthorityOver(principal, roles);
    const email = normalizeEmail(input.email);
    // A person of another organization is not mentioned: nobody finds out by invitations who has an account.
    if ((await findUserByEmail(deps.mongo.collections, email))?.organization_id === organization_id)
      throw new AppError('conflict', `email: ${email} is a user of the organization: add the user as a member`);
    const token = invitationTokens.create();
    const now = epochSeconds();
    const invitation: InvitationDocument = {
      ...{ _id: newId(), token_hash: sha256Hex(token), user_id: newId(), email, ...toStoredRoles(roles) },
      ...{ invited_by: principal.userId, organization_id, project_id, created_at: now },
      expires_at: new Date((now + input.valid_for_hours * 3600) * 1000),
    };
    await invitations.deleteMany({ project_id, email });
    await invitations.insertOne(invitation);
    return { ...toInvitation(invitation), link: `${baseUrl}/console/invitation?token=${token}` };
  },
});

export const listInvitations = defineOperation({
  name: 'member.list-invitations',
  ...reads,
  input: ListQuery,
  output: listOf(Invitation),
  async run({ deps, ctx: { principal }, input }) {
    const open = { project_id: principal.projectId, expires_at: { $gt: new Date() } };
    const page = await listPage(deps.mongo.collections.invitations, open, input);
    return { ...page, data: page.data.map(toInvitation) };
  },
});

export const withdrawInvitation = defineOperation({
  name: 'member.withdraw-invitation',
  ...manages,
  facts: textFacts('invitation_id'),
  key: z.object({ invitation_id: Id }),
  output: Invitation,
  async run({ deps, ctx: { principal }, key: { invitation_id: _id } }) {
    const { invitations } = deps.mongo.collections;
    const withdrawn = await invitations.findOneAndDelete({ _id, project_id: principal.projectId });
    if (!withdrawn) throw notFound('the invitation');
    return toInvitation(withdrawn);
  },
});
