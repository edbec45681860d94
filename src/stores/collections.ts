import type { Collection, CreateIndexesOptions, Db, IndexSpecification } from 'mongodb';
import type { ApiKeyDocument } from '../auth/api-keys.js';
import type { DepartmentDocument, MembershipDocument, OrganizationDocument, UserDocument } from '../auth/users.js';
import type { AuditEntryDocument } from '../governance/audit/entry.js';
import type { CheckpointDocument } from '../governance/audit/statement.js';
import type { PolicyDecisionDocument } from '../governance/lifecycles/policy-decision.js';
import type { LifecycleDocument } from '../governance/lifecycles/record.js';
import type { QuotaDocument } from '../governance/quota/windows.js';
import type { IdempotencyDocument } from '../http/idempotency.js';
import type { AgentflowDocument } from '../platform/resources/agentflows/schemas.js';
import type { ExecutionDocument, ExecutionEventDocument } from '../platform/resources/executions/record.js';
import type { ProjectDocument } from '../platform/resources/projects.js';

/** Every collection and what it holds. */
export interface Documents {
  api_keys: ApiKeyDocument;
  organizations: OrganizationDocument;
  departments: DepartmentDocument;
  users: UserDocument;
  memberships: MembershipDocument;
  idempotency: IdempotencyDocument;
  quotas: QuotaDocument;
  lifecycles: LifecycleDocument;
  policy_decisions: PolicyDecisionDocument;
  audit_entries: AuditEntryDocument;
  audit_checkpoints: CheckpointDocument;
  projects: ProjectDocument;
  agentflows: AgentflowDocument;
  executions: ExecutionDocument;
  execution_events: ExecutionEventDocument;
}

export type Collections = { [Name in keyof Documents]: Collection<Documents[Name]> };

interface Index {
  keys: IndexSpecification;
  options?: CreateIndexesOptions;
}

/** Every index. Hot paths look up by `_id` alone; these serve lists and uniqueness. */
const indexes: Record<keyof Documents, Index[]> = {
  api_keys: [{ keys: { id: 1 }, options: { unique: true } }, { keys: { 'scope.project_id': 1 } }],
  organizations: [],
  departments: [{ keys: { organization_id: 1 } }],
  users: [{ keys: { email: 1 }, options: { unique: true } }],
  memberships: [{ keys: { user_id: 1 } }],
  idempotency: [{ keys: { expires_at: 1 }, options: { expireAfterSeconds: 0 } }],
  quotas: [],
  lifecycles: [{ keys: { project_id: 1, _id: -1 } }],
  policy_decisions: [{ keys: { project_id: 1, _id: -1 } }],
  audit_entries: [],
  audit_checkpoints: [{ keys: { organization_id: 1, _id: -1 } }],
  projects: [{ keys: { organization_id: 1, name: 1 }, options: { unique: true } }],
  agentflows: [{ keys: { projectID: 1, _id: -1 } }],
  executions: [{ keys: { projectID: 1, _id: -1 } }],
  execution_events: [{ keys: { execution_id: 1, seq: 1 } }],
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
