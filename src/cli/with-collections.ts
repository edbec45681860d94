import { collections as definitions } from '../collections.js';
import { loadConfig } from '../config.js';
import type { Collections } from '../stores/collections.js';
import { createMongo } from '../stores/mongo.js';

/** Runs a command of the operator on the records of the service. */
export async function withCollections<T>(work: (collections: Collections) => Promise<T>): Promise<T> {
  const mongo = createMongo({ ...loadConfig(process.env).mongodb, collections: definitions });
  return work(mongo.collections).finally(() => mongo.close());
}

/** Organizations of an external identity provider have projects but no record of their own. */
export async function isKnownOrganization(
  { organizations, projects }: Collections,
  organizationId: string,
): Promise<boolean> {
  const record = await organizations.findOne({ _id: organizationId });
  return (record ?? (await projects.findOne({ organization_id: organizationId }))) !== null;
}
