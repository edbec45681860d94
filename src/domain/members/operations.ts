import { z } from 'zod';
import { adminRoles, haveSameRoles, holdsEverywhere, rolesOf, toRoles, toStoredRoles } from '../../auth/grants.js';
import { endCredentials } from '../../auth/end-credentials.js';
import { whyNotGive } from '../../auth/giving-roles.js';
import { changeRoles, removeRoles } from '../../auth/memberships.js';
import { noteRoleChange } from '../../auth/role-changes.js';
import { isAdmin, type Principal } from '../../auth/principal.js';
import type { MembershipDocument } from '../../auth/users.js';
import { findUserByEmail, grantRole, membershipOn } from '../../auth/users.js';
import { AppError, notFound } from '../../base/errors.js';
import { freeText, text, textFacts, type Facts } from '../../governance/operations/operation.js';
import { listOf, ListQuery, pageOf } from '../../stores/lists.js';
import { releaseMember } from '../customers/operations/release-member.js';
import type { Deps } from '../deps.js';
import { defineOperation, manages, reads } from '../operation.js';
import { Member, MemberPatch, NewMember, rolesAsked } from './record.js';
import { UserId } from '../../base/ids.js';

const key = z.object({ user_id: UserId });

export const countMembers = defineOperation({
  name: 'member.count',
  ...reads,
  output: z
    .object({ total_count: z.int().meta({ example: 1 }), user_ids: z.array(UserId) })
    .meta({ id: 'MemberSummary' }),
  async run({ deps, ctx: { principal } }) {
    const user_ids = (await membersOf(deps, principal)).map(({ user_id }) => user_id);
    return { total_count: user_ids.length, user_ids };
  },
});

export const listMembers = defineOperation({
  name: 'member.list',
  ...reads,
  input: ListQuery,
  output: listOf(Member),
  async run({ deps, ctx: { principal }, input }) {
    const members = await membersOf(deps, principal);
    return pageOf(
      members.map((item) => ({ at: item.created_at, id: item.user_id, item })),
      input,
    );
  },
});

/** The role that a call gives, however it names it: a rule that reads only one of the two facts sees every role. */
export const roleFacts: Facts = {
  role: { type: 'String', read: (input) => toRoles(rolesAsked(input)).role },
  roles: { type: 'Set', read: (input) => [...toRoles(rolesAsked(input)).roles] },
};

export const addMember = defineOperation({
  name: 'member.add',
  ...manages,
  facts: { user_id: text('user_id'), email: freeText('email'), ...roleFacts },
  input: NewMember,
  output: Member,
  errors: ['conflict', 'plan_limit'],
  async run({ deps, ctx: { principal }, input }) {
    const { collections } = deps.mongo;
    const { organizationId, projectId } = principal;
    const { user_id, email } = input;
    const asked = toStoredRoles(rolesAsked(input));
    requireAuthorityOver(principal, rolesOf(asked));
    const user =
      email === undefined
        ? await collections.users.findOne({ _id: user_id ?? '' })
        : await findUserByEmail(collections, email);
    if (user?.organization_id !== organizationId) throw notFound('the user');
    const present = await membershipOf(deps, principal, user._id);
    if (present && !haveSameRoles(present, asked)) throw alreadyMember(present);
    await deps.customers.reserve(organizationId, 'number_of_members', user._id);
    const target = { userId: user._id, organizationId, projectId: holdsEverywhere(asked.role) ? null : projectId };
    const membership = await grantRole(collections, { ...target, ...asked });
    if (!haveSameRoles(membership, asked)) throw alreadyMember(membership);
    return toMember(membership, projectId, user);
  },
});

/** Revokes credentials even if the roles are unchanged, in case an earlier attempt crashed before doing so. */
export const changeMember = defineOperation({
  name: 'member.update',
  ...manages,
  facts: { user_id: text('user_id'), ...roleFacts },
  key,
  input: MemberPatch,
  output: Member,
  errors: ['conflict'],
  async run({ deps, ctx: { principal }, key: { user_id }, input }) {
    const { collections } = deps.mongo;
    const asked = rolesAsked(input);
    const present = await readChangeableMember(deps, principal, user_id);
    requireAuthorityOver(principal, asked);
    await noteRoleChange(collections, present);
    const changed = await changeRoles(collections, present, principal.projectId, asked);
    await revokeCredentials(deps, principal, [present, changed], `the role was changed by ${principal.userId}`);
    return toMember(changed, principal.projectId, await collections.users.findOne({ _id: user_id }));
  },
});

export const removeMember = defineOperation({
  name: 'member.remove',
  ...manages,
  facts: textFacts('user_id'),
  key,
  output: Member,
  errors: ['conflict'],
  async run({ deps, ctx: { principal }, key: { user_id } }) {
    const { collections } = deps.mongo;
    const { organizationId, projectId } = principal;
    const present = await readChangeableMember(deps, principal, user_id);
    await noteRoleChange(collections, present);
    await removeRoles(collections, present);
    // The role on the whole organization hides a role on the project, which would otherwise take effect now.
    const below =
      present.project_id === null ? await membershipOn(collections, user_id, projectId, organizationId) : null;
    if (below) await removeRoles(collections, below);
    await revokeCredentials(deps, principal, [present], `removed from the project by ${principal.userId}`);
    await releaseMember(deps, organizationId, user_id);
    return toMember(present, projectId, await collections.users.findOne({ _id: user_id }));
  },
});

async function membersOf(
  { mongo: { collections } }: Deps,
  { projectId, organizationId }: Principal,
): Promise<Member[]> {
  const memberships = await collections.memberships.find({ organization_id: organizationId }).toArray();
  const onProject = memberships.filter(({ project_id }) => project_id === null || project_id === projectId);
  const users = await collections.users.find({ _id: { $in: onProject.map(({ user_id }) => user_id) } }).toArray();
  const byUser = new Map<string, Member>();
  // A role on the whole organization takes precedence over one on the project, as when a credential is resolved.
  for (const membership of onProject.sort((a, b) => Number(a.project_id !== null) - Number(b.project_id !== null))) {
    const user = users.find(({ _id }) => _id === membership.user_id);
    if (!byUser.has(membership.user_id)) byUser.set(membership.user_id, toMember(membership, projectId, user));
  }
  return [...byUser.values()];
}

function toMember(
  membership: MembershipDocument,
  projectID: string,
  user?: { email: string; name: string } | null,
): Member {
  const { user_id, project_id, created_at } = membership;
  const { role, roles } = toRoles(rolesOf(membership));
  return {
    user_id,
    email: user?.email ?? '',
    name: user?.name ?? '',
    role,
    roles: [...roles],
    projectID,
    whole_organization: project_id === null,
    created_at,
  };
}

function alreadyMember(present: MembershipDocument): AppError {
  return new AppError('conflict', `the user is already a member, with the role ${rolesOf(present).join(', ')}`);
}

/** @throws AppError `access_denied`, `not_found` if the user has no role on the project */
async function readChangeableMember(deps: Deps, principal: Principal, userId: string): Promise<MembershipDocument> {
  requireManager(principal);
  const present = await membershipOf(deps, principal, userId);
  if (!present) {
    // An earlier removal may have crashed before it revoked the credentials.
    await revokeCredentials(
      deps,
      principal,
      [{ user_id: userId, project_id: principal.projectId }],
      `has no role on the project, detected by ${principal.userId}`,
    );
    throw notFound('the member');
  }
  requireAuthorityOver(principal, rolesOf(present));
  return present;
}

/** The effective role. A role on the whole organization takes precedence over one on the project. */
async function membershipOf(
  { mongo: { collections } }: Deps,
  { projectId, organizationId }: Principal,
  userId: string,
): Promise<MembershipDocument | null> {
  return (
    (await membershipOn(collections, userId, null, organizationId)) ??
    membershipOn(collections, userId, projectId, organizationId)
  );
}

/** @throws AppError `access_denied` */
function requireManager(principal: Principal): void {
  if (!isAdmin(principal)) throw new AppError('access_denied', `only ${adminRoles.join(', ')} can change members`);
}

/** @throws AppError `access_denied` unless the caller may give and take each of these roles */
export function requireAuthorityOver(principal: Principal, roles: readonly string[]): void {
  requireManager(principal);
  for (const role of roles) {
    const problem = whyNotGive(principal, role);
    if (problem !== undefined) throw new AppError('access_denied', `the role ${role} ${problem}`);
  }
}

async function revokeCredentials(
  deps: Deps,
  principal: Principal,
  roles: readonly Pick<MembershipDocument, 'user_id' | 'project_id'>[],
  because: string,
): Promise<void> {
  const [first] = roles;
  if (!first) return;
  const isEverywhere = roles.some(({ project_id }) => project_id === null);
  const whose = { userId: first.user_id, ...(!isEverywhere && { projectId: principal.projectId }) };
  await endCredentials({ ...deps, grants: deps.oauth.grants }, principal.organizationId, whose, because);
}
