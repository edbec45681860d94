import path from 'node:path';
import type { Auth } from '../auth/create-auth.js';
import type { Config } from '../config.js';
import type { Logger } from '../log.js';
import type { Mongo } from '../stores/mongo.js';
import type { Temporal } from '../temporal/client.js';
import type { Threads } from '../threads/threads.js';
import { createApprovals } from './approvals/create-approvals.js';
import { createAudit } from './audit/audit.js';
import type { Catalog } from './operations/catalog.js';
import { createPolicies } from './policy/create-policies.js';
import { createQuota } from './quota/quota.js';
import { createRecorder } from './recorder.js';

export type Governance = ReturnType<typeof createGovernance>;

interface GovernanceOptions {
  config: Config;
  log: Logger;
  mongo: Mongo;
  temporal: Temporal;
  auth: Auth;
  catalog: Catalog;
  threads: Threads;
  /** Replaces secrets and personal data in the calls that programs see. */
  redact(value: unknown, organizationId: string): Promise<unknown>;
  /** Replaces secrets in the calls that approvers see. */
  hideSecrets(value: unknown, organizationId: string): Promise<unknown>;
}

/** The parts that govern calls. Each serves a stage of the pipeline and the routes that show its records. */
export function createGovernance({
  config,
  log,
  mongo,
  temporal,
  auth,
  catalog,
  threads,
  redact,
  hideSecrets,
}: GovernanceOptions) {
  const { collections } = mongo;
  const audit = createAudit({
    collections,
    signer: auth.statements,
    checkpointFolder: path.join(config.dataDir, 'audit-checkpoints'),
    onError: (error) => log.error({ err: error }, 'an audit checkpoint failed'),
  });
  const recorder = createRecorder({ collections, audit });
  return {
    /** The operations that rules can name. */
    catalog,
    quota: createQuota({ collections, ...config.quota }),
    policies: createPolicies({ collections, catalog, threads }),
    approvals: createApprovals({ collections, temporal, secrets: auth.box, redact, hideSecrets, audit }),
    audit,
    recorder,
    async close(): Promise<void> {
      await recorder.close();
      await audit.close();
    },
  };
}
