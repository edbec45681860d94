import { collections as definitions } from '../../../src/collections.js';
import { createAudit } from '../../../src/governance/audit/audit.js';
import { createRecorder } from '../../../src/governance/recorder.js';
import { createMongo } from '../../../src/stores/mongo.js';
import { readyToGo } from './fork.js';
import { createLocalSigner } from './local-signer.js';
import { recordsOf } from './records.js';

interface RecordProcessOptions {
  uri: string;
  organizationId: string;
  projectId: string;
  /** The number of calls to record. Without it, records calls until it is killed. */
  calls?: number;
  callers: number;
  checkpointFolder: string;
}

/** Records calls as the gateway does and reports the lifecycle id of each once it is stored. */
const options = JSON.parse(process.argv[2] ?? '') as RecordProcessOptions;
const mongo = createMongo({ collections: definitions, uri: options.uri });
await mongo.ping();
const audit = createAudit({
  collections: mongo.collections,
  signer: await createLocalSigner(),
  checkpointFolder: options.checkpointFolder,
  checkpointEvery: Infinity,
  checkpointSeconds: 3600,
});
const recorder = createRecorder({ collections: mongo.collections, audit });
let left = options.calls ?? Infinity;

async function caller(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const records = recordsOf(options);
    await recorder.record(records);
    process.send?.(records.lifecycle._id);
  }
}

await readyToGo();
await Promise.all(Array.from({ length: options.callers }, caller));
await mongo.close();
process.disconnect?.();
