import type { Deps } from '../../deps.js';

/** Frees the place of a person who has no role left in the organization. */
export async function releaseMember(
  { mongo, customers }: Pick<Deps, 'mongo' | 'customers'>,
  organization_id: string,
  user_id: string,
): Promise<void> {
  if (!(await mongo.collections.memberships.findOne({ user_id, organization_id })))
    await customers.release(organization_id, 'number_of_members', user_id);
}
