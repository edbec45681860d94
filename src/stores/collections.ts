import type { Collection, CreateIndexesOptions, Db, IndexSpecification } from 'mongodb';
import type { ApiKeyDocument } from '../auth/api-keys.js';
import type { LoginOriginDocument } from '../auth/login-throttle.js';
import type { RefreshTokenDocument, SessionDocument } from '../auth/sessions.js';
import type { SigningKeyDocument } from '../auth/signing-keys.js';
import type { DepartmentDocument, MembershipDocument, OrganizationDocument, UserDocument } from '../auth/users.js';
import type { WindowCounterDocument } from '../auth/window-counter.js';
import type { CatalogSightingDocument } from '../callbacks/catalog/sightings.js';
import type { CallbackDeliveryDocument } from '../callbacks/deliveries.js';
import type { ConnectorDocument, TriggerDocument } from '../connectors/connector.js';
import type { FileDocument } from '../files/record.js';
import type { CreditEntryDocument, CustomerDocument } from '../customers/account.js';
import type { CustomerPlacesDocument } from '../customers/places.js';
import type { StorageTotalDocument, StoredBytesDocument } from '../customers/storage.js';
import type { ApprovalDocument, ApprovalRequestDocument, ResumeTokenDocument } from '../governance/approvals/record.js';
import type { AuditEntryDocument } from '../governance/audit/entry.js';
import type { CheckpointDocument } from '../governance/audit/statement.js';
import type { PolicyDecisionDocument } from '../governance/lifecycles/policy-decision.js';
import type { LifecycleDocument } from '../governance/lifecycles/record.js';
import type { PolicyVersionDocument } from '../governance/policy/rule.js';
import type { QuotaDocument } from '../governance/quota/windows.js';
import type { RepositoryBindingDocument } from '../gateway/tools/bind-repository.js';
import type { OntologyDraftDocument, OntologyVersionDocument } from '../graph/ontology/drafts.js';
import type { ProjectModeDocument } from '../graph/project-mode.js';
import type { IdempotencyDocument } from '../http/idempotency.js';
import type { OauthClientDocument } from '../oauth/clients/clients.js';
import type { OauthCodeDocument } from '../oauth/token/codes.js';
import type { OauthGrantDocument } from '../oauth/token/grants.js';
import type { ActionDocument } from '../platform/resources/actions.js';
import type { AgentflowVersionDocument } from '../platform/resources/agentflows/promote.js';
import type { AgentflowDocument } from '../platform/resources/agentflows/schemas.js';
import type { ExecutionDeltaDocument } from '../platform/resources/executions/deltas.js';
import type { ExecutionKnowledgeDocument } from '../platform/resources/executions/knowledge.js';
import type { ExecutionDocument, ExecutionEventDocument } from '../platform/resources/executions/record.js';
import type { PublicationDocument, PublicationVersionDocument } from '../platform/resources/marketplace/schemas.js';
import type { DashboardDocument } from '../platform/resources/dashboards/store.js';
import type { InboxReadDocument } from '../platform/resources/inbox.js';
import type { ProjectDocument } from '../platform/resources/projects.js';
import type { SettingsDocument } from '../platform/resources/settings.js';
import type { ScheduleDocument, ScheduleRunDocument } from '../platform/resources/schedules/record.js';
import type { SkillDocument } from '../platform/resources/skills.js';
import type { TagDocument } from '../platform/resources/tags.js';
import type { TableDocument } from '../platform/resources/tables/store.js';
import type { ProjectModelDocument } from './project-models.js';

/** Every collection and what it holds. */
export interface Documents {
  api_keys: ApiKeyDocument;
  organizations: OrganizationDocument;
  departments: DepartmentDocument;
  users: UserDocument;
  memberships: MembershipDocument;
  signing_keys: SigningKeyDocument;
  sessions: SessionDocument;
  refresh_tokens: RefreshTokenDocument;
  login_attempts: WindowCounterDocument;
  login_origins: LoginOriginDocument;
  oauth_clients: OauthClientDocument;
  oauth_codes: OauthCodeDocument;
  oauth_grants: OauthGrantDocument;
  oauth_counters: WindowCounterDocument;
  customers: CustomerDocument;
  customer_places: CustomerPlacesDocument;
  stored_bytes: StoredBytesDocument;
  storage_totals: StorageTotalDocument;
  credit_history: CreditEntryDocument;
  idempotency: IdempotencyDocument;
  quotas: QuotaDocument;
  lifecycles: LifecycleDocument;
  policy_decisions: PolicyDecisionDocument;
  policy_versions: PolicyVersionDocument;
  approvals: ApprovalDocument;
  approval_requests: ApprovalRequestDocument;
  resume_tokens: ResumeTokenDocument;
  audit_entries: AuditEntryDocument;
  audit_checkpoints: CheckpointDocument;
  projects: ProjectDocument;
  project_models: ProjectModelDocument;
  project_modes: ProjectModeDocument;
  ontology_drafts: OntologyDraftDocument;
  ontology_versions: OntologyVersionDocument;
  repository_bindings: RepositoryBindingDocument;
  skills: SkillDocument;
  actions: ActionDocument;
  agentflows: AgentflowDocument;
  agentflow_versions: AgentflowVersionDocument;
  publications: PublicationDocument;
  publication_versions: PublicationVersionDocument;
  schedules: ScheduleDocument;
  schedule_runs: ScheduleRunDocument;
  executions: ExecutionDocument;
  execution_events: ExecutionEventDocument;
  execution_deltas: ExecutionDeltaDocument;
  execution_knowledge: ExecutionKnowledgeDocument;
  callback_deliveries: CallbackDeliveryDocument;
  catalog_sightings: CatalogSightingDocument;
  connectors: ConnectorDocument;
  connector_triggers: TriggerDocument;
  files: FileDocument;
  inbox_reads: InboxReadDocument;
  tags: TagDocument;
  settings: SettingsDocument;
  dashboards: DashboardDocument;
  tables: TableDocument;
}

export type Collections = { [Name in keyof Documents]: Collection<Documents[Name]> };

interface Index {
  keys: IndexSpecification;
  options?: CreateIndexesOptions;
}

/** The server deletes a document some time after its `expires_at`. */
const expiring: Index = { keys: { expires_at: 1 }, options: { expireAfterSeconds: 0 } };

/** Every index. Hot paths look up by `_id` alone; these serve lists and uniqueness. */
const indexes: Record<keyof Documents, Index[]> = {
  api_keys: [{ keys: { id: 1 }, options: { unique: true } }, { keys: { 'scope.project_id': 1 } }],
  organizations: [],
  departments: [{ keys: { organization_id: 1 } }],
  users: [{ keys: { email: 1 }, options: { unique: true } }],
  memberships: [{ keys: { user_id: 1 } }, { keys: { organization_id: 1 } }],
  signing_keys: [],
  sessions: [{ keys: { user_id: 1 } }, expiring],
  refresh_tokens: [expiring],
  login_attempts: [expiring],
  login_origins: [expiring],
  oauth_clients: [expiring],
  oauth_codes: [expiring],
  oauth_grants: [{ keys: { user_id: 1 } }, expiring],
  oauth_counters: [expiring],
  customers: [],
  customer_places: [],
  stored_bytes: [expiring],
  storage_totals: [],
  credit_history: [{ keys: { organization_id: 1, _id: -1 } }, { keys: { organization_id: 1, applied: 1 } }, { keys: { project_id: 1, at: 1 } }],
  idempotency: [expiring],
  quotas: [],
  lifecycles: [{ keys: { project_id: 1, _id: -1 } }],
  policy_decisions: [{ keys: { project_id: 1, _id: -1 } }],
  policy_versions: [{ keys: { organization_id: 1, version: -1 } }],
  approvals: [{ keys: { project_id: 1, _id: -1 } }],
  approval_requests: [{ keys: { forget_at: 1 }, options: { expireAfterSeconds: 0 } }],
  resume_tokens: [{ keys: { approval_id: 1 }, options: { unique: true } }],
  audit_entries: [],
  audit_checkpoints: [{ keys: { organization_id: 1, _id: -1 } }],
  projects: [{ keys: { organization_id: 1, name: 1 }, options: { unique: true } }],
  project_models: [],
  project_modes: [],
  ontology_drafts: [],
  ontology_versions: [{ keys: { project_id: 1, version: -1 } }],
  repository_bindings: [{ keys: { repository: 1 } }],
  skills: [{ keys: { projectID: 1, _id: -1 } }],
  actions: [{ keys: { projectID: 1, _id: -1 } }],
  agentflows: [{ keys: { projectID: 1, _id: -1 } }, { keys: { organization_id: 1 } }],
  agentflow_versions: [{ keys: { agentflow_id: 1, version: -1 } }],
  publications: [],
  publication_versions: [{ keys: { marketplace_id: 1, version: -1 } }],
  executions: [
    { keys: { projectID: 1, _id: -1 } },
    { keys: { task_id: 1 } },
    { keys: { status: 1 } },
    { keys: { projectID: 1, created_at: 1 } },
    { keys: { projectID: 1, 'execution_context.waiting_for.kind': 1, _id: -1 } },
  ],
  schedules: [{ keys: { projectID: 1, _id: -1 } }],
  schedule_runs: [{ keys: { schedule_id: 1, scheduled_for: -1 } }],
  execution_events: [{ keys: { execution_id: 1, seq: 1 } }],
  execution_deltas: [expiring],
  execution_knowledge: [],
  callback_deliveries: [expiring],
  catalog_sightings: [{ keys: { project_id: 1, _id: 1 } }],
  connectors: [{ keys: { projectID: 1, _id: -1 } }, { keys: { organization_id: 1 } }],
  connector_triggers: [{ keys: { projectID: 1, _id: -1 } }],
  files: [{ keys: { projectID: 1, connector_id: 1, _id: -1 } }, { keys: { upload_id: 1 } }, { keys: { status: 1, uploaded_on: 1 } }],
  inbox_reads: [],
  tags: [{ keys: { projectID: 1, name: 1 }, options: { unique: true } }, { keys: { projectID: 1, _id: -1 } }],
  settings: [],
  dashboards: [],
  tables: [{ keys: { projectID: 1, table_name: 1 }, options: { unique: true } }, { keys: { projectID: 1, _id: -1 } }, { keys: { organization_id: 1 } }],
};

export function collectionsOf(db: Db): Collections {
  const names = Object.keys(indexes) as (keyof Documents)[];
  return Object.fromEntries(names.map((name) => [name, db.collection(name)])) as unknown as Collections;
}

export async function ensureIndexes(db: Db): Promise<void> {
  for (const [name, list] of Object.entries(indexes)) {
    for (const { keys, options } of list) await db.collection(name).createIndex(keys, options ?? {});
  }
}
