import {
  mcpAuthorizationRequestsCollection,
  mcpAuthorizationsCollection,
  mcpOauthClientsCollection,
  mcpRevocationsCollection,
} from './domain/mcp-servers/record/authorizations.js';
import { mcpElicitationsCollection } from './domain/mcp-servers/record/elicitations.js';
import { mcpToolsCollection } from './domain/mcp-servers/record.js';
import { apiKeysCollection } from './auth/api-keys.js';
import { loginOriginsCollection } from './auth/login-throttle.js';
import { oauthClientsCollection } from './auth/oauth/clients.js';
import { oauthCodesCollection } from './auth/oauth/codes.js';
import { oauthGrantsCollection } from './auth/oauth/grants.js';
import { sessionsCollection, refreshTokensCollection } from './auth/sessions.js';
import { signingKeysCollection } from './auth/signing-keys.js';
import {
  organizationsCollection,
  departmentsCollection,
  usersCollection,
  membershipsCollection,
} from './auth/users.js';
import { loginAttemptsCollection, oauthCountersCollection, requestCountersCollection } from './auth/window-counter.js';
import { actAnswersCollection } from './domain/actions/act-answers.js';
import { actionsCollection } from './domain/actions/record.js';
import { agentflowVersionsCollection } from './domain/agentflows/operations/promote.js';
import { agentflowsCollection } from './domain/agentflows/record.js';
import { catalogSightingsCollection } from './domain/catalog/sightings.js';
import { callbackDeliveriesCollection } from './domain/connectors/deliveries.js';
import { connectorsCollection, connectorTriggersCollection } from './domain/connectors/record.js';
import {
  repositoryBindingsCollection,
  repositoryOwnersCollection,
} from './domain/connectors/operations/repositories.js';
import { customersCollection, creditHistoryCollection } from './domain/customers/record.js';
import { customerPlacesCollection } from './domain/customers/places.js';
import { storedBytesCollection, storageTotalsCollection } from './domain/customers/storage.js';
import { dashboardsCollection } from './domain/dashboards/operations.js';
import { executionDeltasCollection } from './domain/executions/deltas.js';
import { executionExchangesCollection } from './domain/executions/exchanges.js';
import { executionKnowledgeCollection } from './domain/executions/knowledge-base.js';
import { executionsCollection, executionEventsCollection } from './domain/executions/record.js';
import { filesCollection } from './domain/files/record.js';
import { inboxReadsCollection } from './domain/inbox/record.js';
import { memoriesCollection, memoryPartsCollection } from './domain/memories/record.js';
import { publicationsCollection, publicationVersionsCollection } from './domain/marketplace/schemas.js';
import { projectsCollection } from './domain/projects/record.js';
import { schedulesCollection, scheduleRunsCollection } from './domain/schedules/record.js';
import { settingsCollection } from './domain/settings/record.js';
import { skillsCollection } from './domain/skills/record.js';
import { tablesCollection } from './domain/tables/record.js';
import { tagsCollection } from './domain/tags/record.js';
import {
  approvalsCollection,
  approvalRequestsCollection,
  approvalPayloadsCollection,
  resumeTokensCollection,
} from './governance/approvals/record.js';
import { actEditsCollection } from './governance/approvals/edits.js';
import { auditEntriesCollection } from './governance/audit/entry.js';
import { auditCheckpointsCollection } from './governance/audit/statement.js';
import { projectNewsCollection } from './governance/change-notes.js';
import { idempotencyCollection } from './governance/idempotency.js';
import { lifecyclesCollection } from './governance/lifecycles/record.js';
import { policyDecisionsCollection } from './governance/lifecycles/move-decisions.js';
import { policyVersionsCollection } from './governance/policy/rule.js';
import { quotasCollection } from './governance/quota/windows.js';
import { intentsCollection } from './governance/recorder.js';
import { ontologyDraftsCollection, ontologyVersionsCollection } from './graph/ontology/drafts.js';
import { projectModesCollection } from './graph/project-mode.js';
import { projectModelsCollection } from './stores/project-models.js';
import { mcpTasksCollection } from './surfaces/mcp/task-record.js';

/** All collections of the product. Their indexes are built from this list. */
export const collections = [
  actAnswersCollection,
  actEditsCollection,
  actionsCollection,
  agentflowVersionsCollection,
  agentflowsCollection,
  apiKeysCollection,
  approvalPayloadsCollection,
  approvalRequestsCollection,
  approvalsCollection,
  auditCheckpointsCollection,
  auditEntriesCollection,
  callbackDeliveriesCollection,
  catalogSightingsCollection,
  connectorTriggersCollection,
  connectorsCollection,
  creditHistoryCollection,
  customerPlacesCollection,
  customersCollection,
  dashboardsCollection,
  departmentsCollection,
  executionDeltasCollection,
  executionEventsCollection,
  executionExchangesCollection,
  executionKnowledgeCollection,
  executionsCollection,
  filesCollection,
  idempotencyCollection,
  inboxReadsCollection,
  intentsCollection,
  lifecyclesCollection,
  loginAttemptsCollection,
  loginOriginsCollection,
  mcpAuthorizationRequestsCollection,
  mcpAuthorizationsCollection,
  mcpElicitationsCollection,
  mcpOauthClientsCollection,
  mcpRevocationsCollection,
  mcpTasksCollection,
  mcpToolsCollection,
  membershipsCollection,
  memoriesCollection,
  memoryPartsCollection,
  oauthClientsCollection,
  oauthCodesCollection,
  oauthCountersCollection,
  oauthGrantsCollection,
  ontologyDraftsCollection,
  ontologyVersionsCollection,
  organizationsCollection,
  policyDecisionsCollection,
  policyVersionsCollection,
  projectModelsCollection,
  projectModesCollection,
  projectNewsCollection,
  projectsCollection,
  publicationVersionsCollection,
  publicationsCollection,
  quotasCollection,
  refreshTokensCollection,
  repositoryBindingsCollection,
  repositoryOwnersCollection,
  requestCountersCollection,
  resumeTokensCollection,
  scheduleRunsCollection,
  schedulesCollection,
  sessionsCollection,
  settingsCollection,
  signingKeysCollection,
  skillsCollection,
  storageTotalsCollection,
  storedBytesCollection,
  tablesCollection,
  tagsCollection,
  usersCollection,
] as const;
