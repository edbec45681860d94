import { AppError } from '../errors.js';
import { newId } from '../ids.js';
import type { Collections } from '../stores/collections.js';
import { untilWritten } from '../stores/until-written.js';
import { epochSeconds } from '../time.js';
import { holdsEverywhere, type MemberRole } from './grants.js';
import { grantRole, type MembershipDocument } from './users.js';

type Stores = Pick<Collections, 'memberships'>;
/** Removes or replaces the role if the filter still matches. */
type Leave = (filter: object) => Promise<{ matchedCount: number } | { deletedCount: number }>;

const leaveForMs = 5_000;
/** Much longer than a change takes. After this time, the process that started the change is considered dead. */
const graceSeconds = 30;

/**
 * Changes the role of a member. The new role decides whether it applies to a project or to the whole organization.
 * @throws AppError `conflict` for the last OWNER, and if somebody else changed the role concurrently
 */
export async function changeRole(
  collections: Collections,
  present: MembershipDocument,
  projectId: string,
  role: MemberRole,
): Promise<MembershipDocument> {
  const { memberships } = collections;
  const { _id, user_id: userId, organization_id: organizationId } = present;
  if (role === present.role) return present;
  if (holdsEverywhere(role) === (present.project_id === null)) {
    const set: Leave = (filter) =>
      memberships.updateOne({ _id, role: present.role, ...filter }, { $set: { role, leaving: null } });
    await moveAway(memberships, present, set);
    return { ...present, role };
  }
  if (present.role === 'OWNER') await requireAnotherOwner(memberships, present);
  const granted = await grantRole(collections, {
    userId,
    organizationId,
    projectId: holdsEverywhere(role) ? null : projectId,
    role,
  });
  // Another request gave this role on the whole organization meanwhile. A role on the project was only hidden by `present`.
  if (granted.project_id === null && granted.role !== role) throw overtaken();
  const changed = await changeRole(collections, granted, projectId, role);
  await removeRole(collections, present);
  return changed;
}

/**
 * Removes the role of a member.
 * @throws AppError as `changeRole`
 */
export async function removeRole({ memberships }: Stores, present: MembershipDocument): Promise<void> {
  await moveAway(memberships, present, (filter) =>
    memberships.deleteOne({ _id: present._id, role: present.role, ...filter }),
  );
}

async function moveAway(memberships: Stores['memberships'], present: MembershipDocument, leave: Leave): Promise<void> {
  if (present.role === 'OWNER') return leaveOwners(memberships, present, leave);
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
