import { LRUCache } from 'lru-cache';
import { defineCollection, type Collections } from '../stores/collections.js';
import { readFresh } from '../stores/fresh-reads.js';
import { isDuplicateKey } from '../stores/mongo.js';
import { holdsEverywhere, rolesOf, toRoles, type Roles } from './grants.js';
import type { Principal } from './principal.js';
import type { ProjectRef } from './users.js';

/**
 * The newest token that a user of the external identity provider has presented. `_id` is `org:<organization>:<user>` for a
 * role on the whole organization, otherwise `project:<project>:<user>`.
 */
interface ExternalIdentityDocument {
  _id: string;
  user_id: string;
  organization_id: string;
  project_id: string;
  role: string;
  roles?: readonly string[];
  /** When the token expires, in epoch seconds. */
  expires_at: number;
}

type Stores = Pick<Collections, 'external_identities'>;

/** The tokens that this process has noted. */
const noted = new LRUCache<string, number>({ max: 10_000 });

/** Notes the roles in a token, for work that goes on after the call. An older token changes nothing. */
export async function noteExternalIdentity(
  { external_identities }: Stores,
  { userId, organizationId, projectId, ...held }: Principal,
  expires_at: number,
): Promise<void> {
  const { role, roles } = toRoles(rolesOf(held));
  const place = { _id: projectId, organization_id: organizationId };
  const _id = holdsEverywhere(role) ? organizationKey(userId, place) : projectKey(userId, place);
  const known = `${_id} ${roles.join()}`;
  if ((noted.get(known) ?? 0) >= expires_at) return;
  const fields = { user_id: userId, organization_id: organizationId, project_id: projectId, role, roles };
  await external_identities
    .updateOne({ _id, expires_at: { $lte: expires_at } }, { $set: { ...fields, expires_at } }, { upsert: true })
    .catch((error: unknown) => {
      // The stored token is newer.
      if (!isDuplicateKey(error)) throw error;
    });
  noted.set(known, expires_at);
}

/** The roles in the newest token of the user, or undefined if it has expired. */
export async function externalRolesOn(
  { external_identities }: Stores,
  userId: string,
  project: ProjectRef,
  now: number,
): Promise<Roles | undefined> {
  const keys = [organizationKey(userId, project), projectKey(userId, project)];
  const found = await Promise.all(keys.map((key) => readFresh(external_identities, key)));
  const newest = found.find((identity) => identity && identity.expires_at > now);
  return newest ? toRoles(rolesOf(newest)) : undefined;
}

function organizationKey(userId: string, { organization_id }: ProjectRef): string {
  return `org:${organization_id}:${userId}`;
}

function projectKey(userId: string, { _id }: ProjectRef): string {
  return `project:${_id}:${userId}`;
}

export const externalIdentitiesCollection = defineCollection('external_identities', { majorityRead: true });

declare module '../stores/collections.js' {
  interface Documents {
    external_identities: ExternalIdentityDocument;
  }
}
