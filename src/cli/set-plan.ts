import { PlanPatch } from '../domain/customers/record.js';
import { setPlan } from '../domain/customers/operations/account.js';
import { parseWithProblems } from '../base/validation.js';
import { printResult } from './print-result.js';
import { isKnownOrganization, withCollections } from './with-collections.js';
import { parseJsonOrUndefined } from '../base/json.js';

/** `set-plan <organization_id> <JSON>`: changes the plan of an organization. Keeps the fields that the JSON omits. */
const [organizationId, text = ''] = process.argv.slice(2);

async function main(): Promise<number> {
  if (organizationId === undefined)
    return printResult('usage: set-plan <organization_id> \'{"number_of_tables": 20}\'', 2);
  const patch = parseWithProblems(PlanPatch, parseJsonOrUndefined(text), 'plan');
  if ('problems' in patch) return printResult(patch.problems.join('\n'), 2);
  return withCollections(async (collections) => {
    if (!(await isKnownOrganization(collections, organizationId)))
      return printResult(`There is no organization ${organizationId}.`, 1);
    await setPlan(collections, organizationId, patch.data);
    return printResult(`The plan of ${organizationId} is changed.`, 0);
  });
}

process.exitCode = await main();
