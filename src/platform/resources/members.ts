import { z } from 'zod';
import { adminRoles } from '../../auth/grants.js';
import { endCredentials } from '../../auth/end-credentials.js';
import { changeRole, holdsEverywhere, memberRoles, removeRole, weightOf, type MemberRole } from '../../auth/memberships.js';
import { isAdmin, type Principal } from '../../auth/principal.js';
import type { MembershipDocument } from '../../auth/users.js';
import { findUserByEmail, grantRole, membershipOn } from '../../auth/users.js';
import type { Deps } from '../../deps.js';
import { AppError, notFound } from '../../errors.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { decodeCursor, encodeCursor, listOf, ListQuery, type Page } from '../../http/lists.js';

const Role = z.enum(memberRoles).meta({ description: 'OWNER and ORG_ADMIN hold on every project of the organization.' });

const Member = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string(),
    role: z.string(),
    projectID: z.string(),
    whole_organization: z.boolean().meta({ description: 'The role holds on every project.' }),
    created_at: z.number().meta({ description: 'Epoch seconds.' }),
  })
  .meta({
    id: 'Member',
    example: { user_id: 'user_2', email: 'grace@example.com', name: 'Grace', role: 'MEMBER', projectID: 'project_1', whole_organization: false, created_at: 1763683200.5 },
  });
type Member = z.infer<typeof Member>;

const NewMember = z
  .strictObject({ user_id: z.string().max(255).optional(), email: z.email().max(320).optional(), role: Role, projectID: z.string().optional() })
  .refine(({ user_id, email }) => (user_id === undefined) !== (email === undefined), { path: ['user_id'], error: 'either user_id or email' })
  .meta({ id: 'NewMember', example: { email: 'grace@example.com', role: 'MEMBER' } });
const MemberPatch = z.strictObject({ role: Role, projectID: z.string().optional() }).meta({ id: 'MemberPatch', example: { role: 'VIEWER' } });

const tag = 'members';
const reads = 'svc:orchestrate.read';
const changes = 'svc:orchestrate.write';
const params = z.object({ projectID: z.string() });
const member = params.extend({ user_id: z.string() });

type MemberDeps = Pick<Deps, 'mongo' | 'log' | 'auth' | 'oauth' | 'customers'>;

/** Who works on a project, and as what (contract, members). */
export function memberRoutes(deps: MemberDeps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/project-member/{projectID}/summary',
      permission: reads,
      tag,
      params,
      summary: 'Count the members of the project (in development)',
      description: 'In development: fields may be added.',
      response: { schema: z.object({ total_count: z.int(), user_ids: z.array(z.string()) }).meta({ id: 'MemberSummary' }), description: 'How many, and who.' },
      async handler({ ctx: { principal } }) {
        const user_ids = (await membersOf(deps, principal)).map(({ user_id }) => user_id);
        return { total_count: user_ids.length, user_ids };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/project-member/{projectID}',
      permission: reads,
      tag,
      params,
      query: ListQuery,
      summary: 'List the members of the project, newest first',
      response: { schema: listOf(Member), description: 'Those with a role on the project or on its whole organization.' },
      handler: async ({ ctx: { principal }, query }) => pageOf(await membersOf(deps, principal), query),
    }),
    ...changeRoutes(deps),
  ];
}

function changeRoutes(deps: MemberDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/project-member/{projectID}',
      permission: changes,
      tag,
      params,
      summary: 'Give a user of the organization a role',
      description: 'By an administrator, and no role above their own. The roles OWNER and ORG_ADMIN hold on every project.',
      body: NewMember,
      response: { status: 201, schema: Member, description: 'The member.' },
      errors: ['conflict', 'plan_limit'],
      idempotent: true,
      handler: ({ ctx: { principal }, body }) => addMember(deps, principal, body),
    }),
    defineRoute({
      method: 'patch',
      path: '/project-member/{projectID}/{user_id}',
      permission: changes,
      tag,
      params: member,
      summary: 'Change the role of a member',
      description: 'What the member holds with the role of before ends at once: sessions, tokens of applications, API keys. The last OWNER stays.',
      body: MemberPatch,
      response: { schema: Member, description: 'The member as changed.' },
      errors: ['conflict'],
      handler: ({ ctx: { principal }, params: { user_id }, body }) => changeMember(deps, principal, user_id, body.role),
    }),
    defineRoute({
      method: 'delete',
      path: '/project-member/{projectID}/{user_id}',
      permission: changes,
      tag,
      params: member,
      summary: 'Take a member off the project',
      description: 'What the member holds on it ends at once: sessions, tokens of applications, API keys. An OWNER or ORG_ADMIN is taken off the organization; the last OWNER stays.',
      response: { schema: Member, description: 'The last record.' },
      errors: ['conflict'],
      handler: ({ ctx: { principal }, params: { user_id } }) => removeMember(deps, principal, user_id),
    }),
  ];
}

async function membersOf({ mongo: { collections } }: MemberDeps, { projectId, organizationId }: Principal): Promise<Member[]> {
  const memberships = await collections.memberships.find({ organization_id: organizationId }).toArray();
  const onProject = memberships.filter(({ project_id }) => project_id === null || project_id === projectId);
  const users = await collections.users.find({ _id: { $in: onProject.map(({ user_id }) => user_id) } }).toArray();
  const byUser = new Map<string, Member>();
  // A role on the whole organization goes before one on the project, as it does when a credential is resolved.
  for (const membership of onProject.sort((a, b) => Number(a.project_id !== null) - Number(b.project_id !== null))) {
    const user = users.find(({ _id }) => _id === membership.user_id);
    if (!byUser.has(membership.user_id)) byUser.set(membership.user_id, shown(membership, projectId, user));
  }
  return [...byUser.values()].sort((a, b) => (isBehind(a, b) ? 1 : -1));
}

function shown({ user_id, role, project_id, created_at }: MembershipDocument, projectID: string, user?: { email: string; name: string } | null): Member {
  return { user_id, email: user?.email ?? '', name: user?.name ?? '', role, projectID, whole_organization: project_id === null, created_at };
}

type Place = Pick<Member, 'created_at' | 'user_id'>;

/** Newest first. */
function isBehind(a: Place, b: Place): boolean {
  return a.created_at < b.created_at || (a.created_at === b.created_at && a.user_id < b.user_id);
}

function pageOf(members: readonly Member[], { limit, cursor }: ListQuery): Page<Member> {
  const place = cursor === undefined ? undefined : placeOf(cursor);
  const left = place ? members.filter((each) => isBehind(each, place)) : members;
  const data = left.slice(0, limit);
  const last = data.at(-1);
  const goesOn = left.length > limit && last !== undefined;
  return { data, total_count: members.length, next_cursor: goesOn ? encodeCursor(`${last.created_at}:${last.user_id}`) : null };
}

function placeOf(cursor: string): Place {
  const [, created_at, user_id] = /^([\d.]+):(.*)$/s.exec(decodeCursor(cursor)) ?? [];
  if (created_at === undefined || user_id === undefined) throw new AppError('invalid_request', 'cursor: not a cursor of this list');
  return { created_at: Number(created_at), user_id };
}

async function addMember(deps: MemberDeps, principal: Principal, request: z.infer<typeof NewMember>): Promise<Member> {
  const { collections } = deps.mongo;
  const { organizationId, projectId } = principal;
  requireWeight(principal, request.role);
  const user = request.email === undefined ? await collections.users.findOne({ _id: request.user_id ?? '' }) : await findUserByEmail(collections, request.email);
  if (user?.organization_id !== organizationId) throw notFound('the user');
  const present = await membershipOf(deps, principal, user._id);
  if (present && present.role !== request.role) throw isMember(present);
  await deps.customers.reserve(organizationId, 'number_of_members', user._id);
  const place = { userId: user._id, organizationId, projectId: holdsEverywhere(request.role) ? null : projectId };
  const given = await grantRole(collections, { ...place, role: request.role });
  if (given.role !== request.role) throw isMember(given);
  return shown(given, projectId, user);
}

function isMember({ role }: MembershipDocument): AppError {
  return new AppError('conflict', `the user is a member already, as ${role}`);
}

/** The same role again ends credentials again, in case a process died before it had done so. */
async function changeMember(deps: MemberDeps, principal: Principal, userId: string, role: MemberRole): Promise<Member> {
  const { collections } = deps.mongo;
  requireWeight(principal, role);
  const present = await touchable(deps, principal, userId);
  const changed = await changeRole(collections, present, principal.projectId, role);
  await end(deps, principal, [present, changed], `the role was changed by ${principal.userId}`);
  return shown(changed, principal.projectId, await collections.users.findOne({ _id: userId }));
}

async function removeMember(deps: MemberDeps, principal: Principal, userId: string): Promise<Member> {
  const { collections } = deps.mongo;
  const { organizationId, projectId } = principal;
  const present = await touchable(deps, principal, userId);
  await removeRole(collections, present);
  // A role on the whole organization goes before one on the project, which would come back to light.
  const below = present.project_id === null ? await membershipOn(collections, userId, projectId, organizationId) : null;
  if (below) await removeRole(collections, below);
  await end(deps, principal, [present], `taken off the project by ${principal.userId}`);
  const left = await collections.memberships.findOne({ user_id: userId, organization_id: organizationId });
  if (!left) await deps.customers.release(organizationId, 'number_of_members', userId);
  return shown(present, projectId, await collections.users.findOne({ _id: userId }));
}

/** @throws AppError `access_denied`, `not_found` where the user has no role here */
async function touchable(deps: MemberDeps, principal: Principal, userId: string): Promise<MembershipDocument> {
  requireWeight(principal, 'VIEWER');
  const present = await membershipOf(deps, principal, userId);
  if (!present) {
    // Whoever took the role away may have died before the credentials ended.
    await end(deps, principal, [{ user_id: userId, project_id: principal.projectId }], `has no role, seen by ${principal.userId}`);
    throw notFound('the member');
  }
  requireWeight(principal, present.role);
  return present;
}

/** The role that counts: the one on the whole organization goes before the project's. */
async function membershipOf({ mongo: { collections } }: MemberDeps, { projectId, organizationId }: Principal, userId: string): Promise<MembershipDocument | null> {
  return (await membershipOn(collections, userId, null, organizationId)) ?? membershipOn(collections, userId, projectId, organizationId);
}

function requireWeight(principal: Principal, role: string): void {
  if (!isAdmin(principal)) throw new AppError('access_denied', `members are changed by ${adminRoles.join(', ')}`);
  if (weightOf(role) > weightOf(principal.role)) throw new AppError('access_denied', `the role ${role} is above that of the caller`);
}

async function end(deps: MemberDeps, principal: Principal, roles: readonly Pick<MembershipDocument, 'user_id' | 'project_id'>[], because: string): Promise<void> {
  const [first] = roles;
  if (!first) return;
  const isEverywhere = roles.some(({ project_id }) => project_id === null);
  const whose = { userId: first.user_id, ...(!isEverywhere && { projectId: principal.projectId }) };
  await endCredentials({ ...deps, grants: deps.oauth.grants }, principal.organizationId, whose, because);
}
