import { loadConfig } from '../config.js';
import { PlanPatch } from '../customers/account.js';
import { setPlan } from '../customers/account-store.js';
import { createMongo, type Mongo } from '../stores/mongo.js';
import { told } from './told.js';

/** `set-plan <organization_id> <JSON>`: changes the plan of an organization; what the JSON leaves out stays as it is. */
const [organizationId, text = ''] = process.argv.slice(2);

async function main(): Promise<number> {
  if (organizationId === undefined) return told('usage: set-plan <organization_id> \'{"number_of_tables": 20}\'', 2);
  const patch = PlanPatch.safeParse(parsed(text));
  if (!patch.success) return told(patch.error.issues.map(({ path, message }) => `${path.join('.') || 'plan'}: ${message}`).join('\n'), 2);
  const mongo = createMongo(loadConfig(process.env).mongodb);
  try {
    if (!(await isKnown(mongo, organizationId))) return told(`There is no organization ${organizationId}.`, 1);
    await setPlan(mongo.collections, organizationId, patch.data);
  } finally {
    await mongo.close();
  }
  return told(`The plan of ${organizationId} is changed.`, 0);
}

/** Organizations of an outside identity provider have projects and no record of their own. */
async function isKnown({ collections }: Mongo, organizationId: string): Promise<boolean> {
  const record = await collections.organizations.findOne({ _id: organizationId });
  return (record ?? (await collections.projects.findOne({ organization_id: organizationId }))) !== null;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

process.exitCode = await main();
