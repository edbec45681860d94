import { collections as definitions } from '../../../src/collections.js';
import { createQuota, type Admission } from '../../../src/governance/quota/quota.js';
import { createMongo } from '../../../src/stores/mongo.js';
import { readyToGo } from './fork.js';

interface QuotaProcessOptions {
  uri: string;
  organizationId: string;
  projectId: string;
  calls: number;
  projectMax: number;
  organizationMax: number;
  windowSeconds: number;
}

/** Makes all its calls concurrently and reports every answer. */
const options = JSON.parse(process.argv[2] ?? '') as QuotaProcessOptions;
const mongo = createMongo({ collections: definitions, uri: options.uri });
await mongo.ping();
const quota = createQuota({ ...options, collections: mongo.collections });
await readyToGo();
const answers: Admission[] = await Promise.all(Array.from({ length: options.calls }, () => quota.admit(options)));
process.send?.(answers);
await mongo.close();
process.disconnect?.();
