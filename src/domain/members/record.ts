import { z } from 'zod';
import { memberRoles, type MemberRole } from '../../auth/grants.js';

const Role = z.enum(memberRoles);
const appliesTo =
  'OWNER and ORG_ADMIN apply to every project of the organization, and so do all roles given with them.';
export const roleFields = {
  role: Role.optional().describe(`One role. Send \`role\` or \`roles\`. ${appliesTo}`),
  roles: z
    .array(Role)
    .min(1)
    .max(memberRoles.length)
    .optional()
    .describe('Several roles, which add up.')
    .meta({ example: ['EDITOR', 'APPROVER'] }),
};
export const oneOfBoth = { path: ['roles'], error: 'exactly one of role and roles is required' };

/** The roles that a request names, whether by `role` or by `roles`. */
export function rolesAsked({ role, roles }: { role?: unknown; roles?: unknown }): MemberRole[] {
  const named: unknown[] = Array.isArray(roles) ? roles : [role];
  return memberRoles.filter((each) => named.includes(each));
}

export function namesRoles({ role, roles }: { role?: unknown; roles?: unknown }): boolean {
  return (role === undefined) !== (roles === undefined);
}

export const Member = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string(),
    role: z.string().describe('The highest of the roles.'),
    roles: z.array(z.string()).describe('All roles, the highest first.'),
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
      roles: ['MEMBER'],
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
    ...roleFields,
    projectID: z.string().optional(),
  })
  .refine(namesRoles, oneOfBoth)
  .refine(({ user_id, email }) => (user_id === undefined) !== (email === undefined), {
    path: ['user_id'],
    error: 'exactly one of user_id and email is required',
  })
  .meta({ id: 'MemberInput', example: { email: 'grace@example.com', role: 'MEMBER' } });
export const MemberPatch = z
  .strictObject({ ...roleFields, projectID: z.string().optional() })
  .refine(namesRoles, oneOfBoth)
  .meta({ id: 'MemberPatch', example: { role: 'VIEWER' } });
