import type { Collection, Document, Filter } from 'mongodb';
import type { Collections } from '../../stores/collections.js';
import { premiumCategories, type CountedLimit } from './rules.js';

export type CountedRecords = ReturnType<typeof createCountedRecords>;

interface Counted {
  collection: Collection<Document>;
  /** Selects the records that count. */
  countedOnly: Filter<Document>;
  /** The field whose distinct values are counted. */
  id: string;
}

/** Finds the ids of the records that a limit counts. */
export function createCountedRecords(collections: Collections) {
  const of = (name: keyof Collections, countedOnly: Filter<Document>, id = '_id'): Counted => ({
    collection: collections[name] as unknown as Collection<Document>,
    countedOnly,
    id,
  });
  const counted: Record<CountedLimit, Counted> = {
    number_of_coworkers: of('agentflows', { is_deleted: false }),
    // A person with roles on several projects is one member.
    number_of_members: of('memberships', {}, 'user_id'),
    number_of_workspaces: of('projects', { status: { $ne: 'deleted' } }),
    number_of_tables: of('tables', {}),
    number_of_connectors: of('connectors', { is_deleted: false, table_id: { $exists: false } }),
    number_of_premium_connectors: of('connectors', { is_deleted: false, category: { $in: [...premiumCategories] } }),
  };
  const idsOf = async (
    { collection, countedOnly, id }: Counted,
    organizationId: string,
    among: Filter<Document> = {},
  ) => {
    const found = await collection
      .find({ organization_id: organizationId, ...countedOnly, ...among }, { projection: { [id]: 1 } })
      .toArray();
    return [...new Set(found.map((each) => String(each[id])))];
  };
  return {
    all: (limit: CountedLimit, organizationId: string) => idsOf(counted[limit], organizationId),
    present: (limit: CountedLimit, organizationId: string, ids: readonly string[]) =>
      idsOf(counted[limit], organizationId, { [counted[limit].id]: { $in: [...ids] } }),
  };
}
