import { moveRepository } from '../domain/connectors/operations/repositories.js';
import { printResult } from './print-result.js';
import { isKnownOrganization, withCollections } from './with-collections.js';

/** `move-repository <owner/name> <organization_id>`: lets only this organization follow a repository. */
const [repository = '', organizationId] = process.argv.slice(2);

async function main(): Promise<number> {
  if (organizationId === undefined || !/^[\w.-]+\/[\w.-]+$/.test(repository))
    return printResult('usage: move-repository <owner/name> <organization_id>', 2);
  return withCollections(async (collections) => {
    if (!(await isKnownOrganization(collections, organizationId)))
      return printResult(`There is no organization ${organizationId}.`, 1);
    const removed = await moveRepository(collections, repository.toLowerCase(), organizationId);
    return printResult(
      `${repository} belongs to ${organizationId}. Removed bindings of other organizations: ${removed}.`,
      0,
    );
  });
}

process.exitCode = await main();
