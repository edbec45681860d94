import type { Visit } from './visit.js';

/** The names of people of this organization. Other people, and keys of people who no longer exist, keep their ids. */
export async function namesOf(
  { deps, principal }: Visit,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const users = await deps.mongo.collections.users.find({ _id: { $in: [...new Set(ids)] } }).toArray();
  const own = users.filter(({ organization_id }) => organization_id === principal.organizationId);
  return new Map(own.map(({ _id, name, email }) => [_id, `${name} (${email})`]));
}
