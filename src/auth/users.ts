import { defineCollection, type Collections } from '../stores/collections.js';
import { readFresh } from '../stores/fresh-reads.js';
import { insertOnce } from '../stores/insert-once.js';
import { epochSeconds } from '../base/time.js';
import { rolesOf, toRoles, toStoredRoles, type Roles } from './grants.js';
import { hashPassword } from './passwords.js';

interface OrganizationDocument {
  _id: string;
  name: string;
  created_at: number;
}

interface DepartmentDocument {
  _id: string;
  organization_id: string;
  name: string;
}

export interface UserDocument {
  _id: string;
  /** A unique address in the form of `normalizeEmail`. */
  email: string;
  name: string;
  password_hash: string;
  organization_id: string;
  created_at: number;
}

/** `_id` is `org:<organization>:<user>` or `project:<project>:<user>`, so that every request finds the role by key. */
export interface MembershipDocument {
  _id: string;
  user_id: string;
  organization_id: string;
  /** Null for a role on the whole organization. */
  project_id: string | null;
  /** The highest role. */
  role: string;
  /** All roles in descending order, if there are several (`rolesOf`). */
  roles?: readonly string[];
  /** Set while an OWNER is being removed; see `memberships.ts`. */
  leaving?: { token: string; at: number } | null;
  created_at: number;
}

export function normalizeEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

interface NewUser {
  id: string;
  email: string;
  name: string;
  password: string;
  organizationId: string;
}

/** Stores a user. If the id already exists (a retry after a crash), returns the existing record. */
export async function createUser(collections: Collections, user: NewUser): Promise<UserDocument> {
  const present = await collections.users.findOne({ _id: user.id });
  if (present) return present;
  return insertOnce(collections.users, {
    _id: user.id,
    email: normalizeEmail(user.email),
    name: user.name,
    password_hash: await hashPassword(user.password),
    organization_id: user.organizationId,
    created_at: epochSeconds(),
  });
}

export async function findUserByEmail(collections: Collections, email: string): Promise<UserDocument | null> {
  return collections.users.findOne({ email: normalizeEmail(email) });
}

/** Gives a user a role, or several, on one project or on the whole organization. Does not change existing roles. */
export async function grantRole(
  collections: Collections,
  {
    userId,
    organizationId,
    projectId,
    role,
    roles = [role],
  }: { userId: string; organizationId: string; projectId: string | null; role: string; roles?: readonly string[] },
): Promise<MembershipDocument> {
  return insertOnce(collections.memberships, {
    _id: projectId === null ? organizationKey(organizationId, userId) : projectKey(projectId, userId),
    user_id: userId,
    organization_id: organizationId,
    project_id: projectId,
    ...toStoredRoles(roles),
    created_at: epochSeconds(),
  });
}

/** Returns the membership of a user in a project, or in the whole organization if `projectId` is null. */
export async function membershipOn(
  { memberships }: Pick<Collections, 'memberships'>,
  userId: string,
  projectId: string | null,
  organizationId: string,
): Promise<MembershipDocument | null> {
  return memberships.findOne({
    _id: projectId === null ? organizationKey(organizationId, userId) : projectKey(projectId, userId),
  });
}

export interface ProjectRef {
  _id: string;
  organization_id: string;
}

/** Returns the user's roles on a project, or undefined if there is none. Organization-wide roles take precedence. */
export async function rolesOn(
  collections: Pick<Collections, 'memberships'>,
  userId: string,
  project: ProjectRef,
): Promise<Roles | undefined> {
  const keys = [organizationKey(project.organization_id, userId), projectKey(project._id, userId)];
  const [everywhere, here] = await Promise.all(keys.map((key) => readFresh(collections.memberships, key)));
  const held = everywhere ?? here;
  return held ? toRoles(rolesOf(held)) : undefined;
}

/** Returns the project for a sign-in that names none: the oldest one on which the user has a role. */
export async function homeProject(
  collections: Collections,
  user: Pick<UserDocument, '_id' | 'organization_id'>,
): Promise<string | undefined> {
  const notDeleted = { status: { $ne: 'deleted' as const } };
  const everywhere = await collections.memberships.findOne({ _id: organizationKey(user.organization_id, user._id) });
  const memberships = everywhere ? [] : await collections.memberships.find({ user_id: user._id }).toArray();
  const within = everywhere
    ? { organization_id: user.organization_id }
    : { _id: { $in: memberships.flatMap(({ project_id }) => project_id ?? []) } };
  const [oldest] = await collections.projects
    .find({ ...within, ...notDeleted })
    .sort({ _id: 1 })
    .limit(1)
    .toArray();
  return oldest?._id;
}

function organizationKey(organizationId: string, userId: string): string {
  return `org:${organizationId}:${userId}`;
}

function projectKey(projectId: string, userId: string): string {
  return `project:${projectId}:${userId}`;
}

export const organizationsCollection = defineCollection('organizations', {});
export const departmentsCollection = defineCollection('departments', { indexes: [{ keys: { organization_id: 1 } }] });
export const usersCollection = defineCollection('users', {
  indexes: [{ keys: { email: 1 }, options: { unique: true } }],
});
export const membershipsCollection = defineCollection('memberships', {
  indexes: [{ keys: { user_id: 1 } }, { keys: { organization_id: 1, role: 1 } }],
  majorityRead: true,
});

declare module '../stores/collections.js' {
  interface Documents {
    organizations: OrganizationDocument;
    departments: DepartmentDocument;
    users: UserDocument;
    memberships: MembershipDocument;
  }
}

/** Returns the names or email addresses of users by id. Omits unknown users. */
export async function namesOf(
  { users }: Pick<Collections, 'users'>,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = await users
    .find({ _id: { $in: [...new Set(userIds)] } }, { projection: { name: 1, email: 1 } })
    .toArray();
  return new Map(found.map(({ _id, name, email }) => [_id, name || email]));
}
