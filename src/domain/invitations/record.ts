import { z } from 'zod';
import { Id, UserId } from '../../base/ids.js';
import { pick } from '../../base/pick.js';
import { EpochSeconds, Expiry } from '../../base/time.js';
import { rolesOf, toRoles } from '../../auth/grants.js';
import { defineCollection, expiring } from '../../stores/collections.js';
import { namesRoles, oneOfBoth, roleFields } from '../members/record.js';

const maxHours = 30 * 24;

/** An invitation of a new person, without its link. */
export const Invitation = z
  .object({
    invitation_id: Id,
    email: z.string().meta({ example: 'grace@example.com' }),
    roles: z
      .array(z.string())
      .describe('The roles that the person gets, the highest first.')
      .meta({ example: ['EDITOR'] }),
    invited_by: UserId,
    created_at: EpochSeconds,
    expires_at: Expiry,
  })
  .meta({ id: 'Invitation' });
export type Invitation = z.infer<typeof Invitation>;

export const InvitationWithLink = Invitation.extend({
  link: z
    .string()
    .describe('The page on which the person sets a name and a password. It works once, and is not shown again.')
    .meta({ example: 'https://service.example.com/console/invitation?token=svc_inv_Jq3v0Yx8uR2m' }),
}).meta({ id: 'InvitationWithLink' });

export const NewInvitation = z
  .strictObject({
    email: z.email().max(320),
    ...roleFields,
    valid_for_hours: z.int().min(1).max(maxHours).default(72),
    projectID: z.string().optional(),
  })
  .refine(namesRoles, oneOfBoth)
  .meta({ id: 'InvitationInput', example: { email: 'grace@example.com', role: 'EDITOR' } });

/** Ends when it is accepted, when it expires, and when its inviter may no longer give the roles. */
export interface InvitationDocument {
  _id: string;
  /** SHA-256 of the token in the link. */
  token_hash: string;
  /** The user that the invitation creates, so that a repeat after a crash creates the same one. */
  user_id: string;
  /** In the form of `normalizeEmail`. */
  email: string;
  role: string;
  roles?: readonly string[];
  invited_by: string;
  organization_id: string;
  project_id: string;
  created_at: number;
  expires_at: Date;
}

export function toInvitation(invitation: InvitationDocument): Invitation {
  return {
    invitation_id: invitation._id,
    ...pick(invitation, 'email', 'invited_by', 'created_at'),
    roles: [...toRoles(rolesOf(invitation)).roles],
    expires_at: invitation.expires_at.getTime() / 1000,
  };
}

export const invitationsCollection = defineCollection('invitations', {
  indexes: [
    { keys: { token_hash: 1 }, options: { unique: true } },
    { keys: { project_id: 1, _id: -1 } },
    { keys: { project_id: 1, email: 1 } },
    expiring,
  ],
  majorityRead: true,
});

declare module '../../stores/collections.js' {
  interface Documents {
    invitations: InvitationDocument;
  }
}
