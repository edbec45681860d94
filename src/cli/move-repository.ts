import { collections } from '../collections.js';
import { loadConfig } from '../config.js';
import { moveRepository } from '../domain/connectors/operations/repositories.js';
import { createMongo } from '../stores/mongo.js';
import { printResult } from './print-result.js';

/** `move-repository <owner/name> <organization_id>`: lets only this organization follow a repository. */
const [repository = '', organizationId] = process.argv.slice(2);

async function main(): Promise<number> {
  if (organizationId === undefined || !/^[\w.-]+\/[\w.-]+$/.test(repository))
    return printResult('usage: move-repository <owner/name> <organization_id>', 2);
  const mongo = createMongo({ ...loadConfig(process.env).mongodb, collections });
  try {
    const { organizations, projects } = mongo.collections;
    const known =
      (await organizations.findOne({ _id: organizationId })) ??
      (await projects.findOne({ organization_id: organizationId }));
    if (!known) return printResult(`There is no organization ${organizationId}.`, 1);
    const removed = await moveRepository(mongo.collections, repository.toLowerCase(), organizationId);
    return printResult(
      `${repository} belongs to ${organizationId}. Removed bindings of other organizations: ${removed}.`,
      0,
    );
  } finally {
    await mongo.close();
  }
}

process.exitCode = await main();
