import type { Filter, UpdateFilter } from 'mongodb';
import { AppError } from '../base/errors.js';
import { newId } from '../base/ids.js';
import type { Collections } from '../stores/collections.js';
import { untilWritten } from '../stores/until-written.js';
import { epochSeconds } from '../base/time.js';
import { haveSameRoles, holdsEverywhere, toStoredRoles, type MemberRole, type StoredRoles } from './grants.js';
import { grantRole, type MembershipDocument } from './users.js';

type Stores = Pick<Collections, 'memberships'>;
/** Removes or replaces the role if the filter still matches. */
type Leave = (filter: object) => Promise<{ matchedCount: number } | { deletedCount: number }>;

const leaveForMs = 5_000;
/** Much longer than a change takes. After this time, the process that started the change is considered dead. */
const graceSeconds = 30;

/**
 * Changes the roles of a member. The highest of the new roles decides whether they apply to a project or to the whole
 * organization.
 * @throws AppError `conflict` for the last OWNER, and if somebody else changed the roles concurrently
 */
export async function changeRoles(
  collections: Collections,
  present: MembershipDocument,
  projectId: string,
  roles: readonly MemberRole[],
): Promise<MembershipDocument> {
  const { memberships } = collections;
  const { user_id: userId, organization_id: organizationId } = present;
  const next = toStoredRoles(roles);
  if (haveSameRoles(next, present)) return present;
  if (holdsEverywhere(next.role) === (present.project_id === null)) {
    const set: Leave = (filter) => memberships.updateOne({ ...asSeen(present), ...filter }, changeTo(next));
    if (next.role === 'OWNER' && present.role === 'OWNER') await moveFreely(set);
    else await moveAway(memberships, present, set);
    const { roles: _before, ...kept } = present;
    return { ...kept, ...next };
  }
  if (present.role === 'OWNER') await requireAnotherOwner(memberships, present);
  const granted = await grantRole(collections, {
    userId,
    organizationId,
    projectId: holdsEverywhere(next.role) ? null : projectId,
    ...next,
  });
  // Another request gave a role on the whole organization meanwhile. A role on the project was only hidden by `present`.
  if (granted.project_id === null && !haveSameRoles(granted, next)) throw overtaken();
  const changed = await changeRoles(collections, granted, projectId, roles);
  await removeRoles(collections, present);
  return changed;
}

/**
 * Removes all roles of a membership.
 * @throws AppError as `changeRoles`
 */
export async function removeRoles({ memberships }: Stores, present: MembershipDocument): Promise<void> {
  await moveAway(memberships, present, (filter) => memberships.deleteOne({ ...asSeen(present), ...filter }));
}

/** Matches the membership only while it has the roles that the caller has seen. */
function asSeen({ _id, role, roles = null }: Omit<MembershipDocument, 'roles'> & { roles?: readonly string[] | null }) {
  return { _id, role, roles } as Filter<MembershipDocument>;
}

function changeTo({ role, roles }: StoredRoles): UpdateFilter<MembershipDocument> {
  return roles ? { $set: { role, roles, leaving: null } } : { $set: { role, leaving: null }, $unset: { roles: '' } };
}

async function moveAway(memberships: Stores['memberships'], present: MembershipDocument, leave: Leave): Promise<void> {
  if (present.role === 'OWNER') return leaveOwners(memberships, present, leave);
  await moveFreely(leave);
}

async function moveFreely(leave: Leave): Promise<void> {
  if (!didLeave(await leave({}))) throw overtaken();
}

/**
 * Keeps at least one owner. An owner first marks their role as leaving, and then checks that another owner exists who
 * is not leaving. If all owners leave at once, none of them finds such an owner, so at least one stays. The removal
 * requires the token of the mark, so a process that was considered dead cannot complete it later.
 */
async function leaveOwners(
  memberships: Stores['memberships'],
  present: MembershipDocument,
  leave: Leave,
): Promise<void> {
  const { _id } = present;
  const attempt = async (): Promise<true | undefined> => {
    const token = newId();
    const marked = await memberships.updateOne(
      { _id, role: 'OWNER', leaving: null },
      { $set: { leaving: { token, at: epochSeconds() } } },
    );
    const owners = await ownersOf(memberships, present);
    const others = owners.filter((each) => each._id !== _id);
    const stays = others.some(({ leaving }) => !leaving);
    if (marked.matchedCount === 1 && stays && didLeave(await leave({ 'leaving.token': token }))) return true;
    await memberships.updateOne({ _id, 'leaving.token': token }, { $set: { leaving: null } });
    if (others.length === 0) throw lastOwner();
    if (!owners.some((each) => each._id === _id)) throw overtaken();
    await clearAbandonedLeaves(memberships, owners);
    return undefined;
  };
  const late = () => new AppError('conflict', 'other owners are being changed at the same time: try again');
  await untilWritten(leaveForMs, attempt, late);
}

function ownersOf(
  memberships: Stores['memberships'],
  { organization_id }: MembershipDocument,
): Promise<MembershipDocument[]> {
  return memberships.find({ organization_id, role: 'OWNER' }).toArray();
}

async function clearAbandonedLeaves(
  memberships: Stores['memberships'],
  owners: readonly MembershipDocument[],
): Promise<void> {
  for (const { _id, leaving } of owners) {
    if (leaving && leaving.at < epochSeconds() - graceSeconds) {
      await memberships.updateOne({ _id, 'leaving.token': leaving.token }, { $set: { leaving: null } });
    }
  }
}

async function requireAnotherOwner(memberships: Stores['memberships'], present: MembershipDocument): Promise<void> {
  if ((await ownersOf(memberships, present)).length < 2) throw lastOwner();
}

function didLeave(result: { matchedCount: number } | { deletedCount: number }): boolean {
  return ('matchedCount' in result ? result.matchedCount : result.deletedCount) === 1;
}

function overtaken(): AppError {
  return new AppError('conflict', 'the role was changed by another request: read it again');
}

function lastOwner(): AppError {
  return new AppError('conflict', 'the last OWNER of an organization stays; make another one first');
}
