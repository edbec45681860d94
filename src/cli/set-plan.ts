import { collections } from '../collections.js';
import { loadConfig } from '../config.js';
import { PlanPatch } from '../domain/customers/record.js';
import { setPlan } from '../domain/customers/operations/account.js';
import { parseWithProblems } from '../problems.js';
import { createMongo, type Mongo } from '../stores/mongo.js';
import { printResult } from './print-result.js';
import { parseJsonOrUndefined } from '../json.js';

/** `set-plan <organization_id> <JSON>`: changes the plan of an organization. Keeps the fields that the JSON omits. */
const [organizationId, text = ''] = process.argv.slice(2);

async function main(): Promise<number> {
  if (organizationId === undefined)
    return printResult('usage: set-plan <organization_id> \'{"number_of_tables": 20}\'', 2);
  const patch = parseWithProblems(PlanPatch, parseJsonOrUndefined(text), 'plan');
  if ('problems' in patch) return printResult(patch.problems.join('\n'), 2);
  const mongo = createMongo({ ...loadConfig(process.env).mongodb, collections });
  try {
    if (!(await isKnown(mongo, organizationId))) return printResult(`There is no organization ${organizationId}.`, 1);
    await setPlan(mongo.collections, organizationId, patch.data);
  } finally {
    await mongo.close();
  }
  return printResult(`The plan of ${organizationId} is changed.`, 0);
}

/** Organizations of an external identity provider have projects but no record of their own. */
async function isKnown({ collections }: Mongo, organizationId: string): Promise<boolean> {
  const record = await collections.organizations.findOne({ _id: organizationId });
  return (record ?? (await collections.projects.findOne({ organization_id: organizationId }))) !== null;
}

process.exitCode = await main();
