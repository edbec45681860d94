import path from 'node:path';
import type { Auth } from '../auth/create-auth.js';
import type { Config } from '../config.js';
import type { Logger } from '../log.js';
import type { Mongo } from '../stores/mongo.js';
import type { Temporal } from '../temporal/client.js';
import { createApprovals, type Approvals } from './approvals/create-approvals.js';
import { createAudit, type Audit } from './audit/audit.js';
import { createPolicies, type Policies } from './policy/create-policies.js';
import { createQuota, type Quota } from './quota/quota.js';
import { createRecorder, type Recorder } from './recorder.js';

/** What governs a call: each part serves a stage of the pipeline and the routes that show its records. */
export interface Governance {
  quota: Quota;
  policies: Policies;
  approvals: Approvals;
  audit: Audit;
  recorder: Recorder;
}

export interface GovernanceOptions {
  config: Config;
  log: Logger;
  mongo: Mongo;
  temporal: Temporal;
  auth: Auth;
}

export function createGovernance({ config, log, mongo, temporal, auth }: GovernanceOptions): Governance {
  const { collections } = mongo;
  const audit = createAudit({
    collections,
    signer: auth.statements,
    checkpointFolder: path.join(config.dataDir, 'audit-checkpoints'),
    onError: (error) => log.error({ err: error }, 'an audit checkpoint failed'),
  });
  return {
    quota: createQuota({ collections, ...config.quota }),
    policies: createPolicies({ collections }),
    approvals: createApprovals({ collections, temporal, secrets: auth.box }),
    audit,
    recorder: createRecorder({ collections, audit }),
  };
}
