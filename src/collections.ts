import { apiKeysCollection } from './auth/api-keys.js';
import { externalIdentitiesCollection } from './auth/external-identities.js';
import { loginOriginsCollection } from './auth/login-throttle.js';
import { oauthClientsCollection } from './auth/oauth/clients.js';
import { oauthCodesCollection } from './auth/oauth/codes.js';
import { deviceRequestsCollection } from './auth/oauth/device-requests.js';
import { oauthGrantsCollection } from './auth/oauth/grants.js';
import { roleChangesCollection } from './auth/role-changes.js';
import { sessionsCollection, refreshTokensCollection } from './auth/sessions.js';
import { signingKeysCollection } from './auth/signing-keys.js';
import {
  organizationsCollection,
  departmentsCollection,
  usersCollection,
  membershipsCollection,
} from './auth/users.js';
import { loginAttemptsCollection, oauthCountersCollection, requestCountersCollection } from './auth/window-counter.js';
import { memoriesCollection, memoryPartsCollection } from './domain/memories/record.js';
import { approvalsCollection, approvalPayloadsCollection } from './governance/approvals/record.js';
import { approvalRequestsCollection, resumeTokensCollection } from './governance/approvals/earlier-records.js';
import { actEditsCollection } from './governance/approvals/edits.js';
import { auditEntriesCollection } from './governance/audit/entry.js';
import { auditCheckpointsCollection } from './governance/audit/statement.js';
import { projectNewsCollection } from './governance/change-notes.js';
import { idempotencyCollection } from './governance/idempotency.js';
import { lifecyclesCollection } from './governance/lifecycles/record.js';
import { policyVersionsCollection } from './governance/policy/rule.js';
import { quotasCollection } from './governance/quota/windows.js';
import { intentsCollection } from './governance/recorder.js';
import { ontologyDraftsCollection, ontologyVersionsCollection } from './graph/ontology/drafts.js';
import { projectModesCollection } from './graph/project-mode.js';
import { turnQueuesCollection } from './domain/run-turns/record.js';
import type { CollectionDefinition } from './stores/collections.js';
import { projectModelsCollection } from './stores/project-models.js';
import { payloadTrustCollection } from './temporal/payload-trust.js';
import { mcpTasksCollection } from './surfaces/mcp/task-record.js';
import { platformExports } from './surfaces/platform/resources.js';

const isCollection = (value: unknown): value is CollectionDefinition =>
  typeof value === 'object' && value !== null && 'indexes' in value && 'majorityRead' in value;

/** All collections of the product. Their indexes are built from this list. */
export const collections = [
  ...platformExports.filter(isCollection),
  actEditsCollection,
  apiKeysCollection,
  approvalPayloadsCollection,
  approvalRequestsCollection,
  approvalsCollection,
  auditCheckpointsCollection,
  auditEntriesCollection,
  departmentsCollection,
  externalIdentitiesCollection,
  idempotencyCollection,
  intentsCollection,
  lifecyclesCollection,
  loginAttemptsCollection,
  loginOriginsCollection,
  mcpTasksCollection,
  membershipsCollection,
  memoriesCollection,
  memoryPartsCollection,
  oauthClientsCollection,
  oauthCodesCollection,
  deviceRequestsCollection,
  oauthCountersCollection,
  oauthGrantsCollection,
  ontologyDraftsCollection,
  ontologyVersionsCollection,
  organizationsCollection,
  payloadTrustCollection,
  policyVersionsCollection,
  projectModelsCollection,
  projectModesCollection,
  projectNewsCollection,
  quotasCollection,
  refreshTokensCollection,
  requestCountersCollection,
  resumeTokensCollection,
  roleChangesCollection,
  sessionsCollection,
  signingKeysCollection,
  turnQueuesCollection,
  usersCollection,
] as const;
