import { z } from 'zod';
import { memberRoles } from '../../auth/grants.js';

const Role = z.enum(memberRoles).describe('OWNER and ORG_ADMIN apply to every project of the organization.');

export const Member = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string(),
    role: z.string(),
    projectID: z.string(),
    whole_organization: z.boolean().describe('Whether the role applies to every project.'),
    created_at: z.number().describe('Epoch seconds.'),
  })
  .meta({
    id: 'Member',
    example: {
      user_id: 'user_2',
      email: 'grace@example.com',
      name: 'Grace',
      role: 'MEMBER',
      projectID: 'project_1',
      whole_organization: false,
      created_at: 1763683200.5,
    },
  });
export type Member = z.infer<typeof Member>;

export const NewMember = z
  .strictObject({
    user_id: z.string().max(255).optional(),
    email: z.email().max(320).optional(),
    role: Role,
    projectID: z.string().optional(),
  })
  .refine(({ user_id, email }) => (user_id === undefined) !== (email === undefined), {
    path: ['user_id'],
    error: 'exactly one of user_id and email is required',
  })
  .meta({ id: 'NewMember', example: { email: 'grace@example.com', role: 'MEMBER' } });
export const MemberPatch = z
  .strictObject({ role: Role, projectID: z.string().optional() })
  .meta({ id: 'MemberPatch', example: { role: 'VIEWER' } });
