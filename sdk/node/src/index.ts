export { createClient, type Client, type ClientOptions } from './client.js';
export type { ConnectionInfo } from './connection.js';
export type { FollowOptions } from './events.js';
export type { Gateway } from './gateway.js';
export { paginate, type Page, type PageQuery } from './page.js';
export type { Platform } from './platform.js';
export type { RetryOptions } from './retry.js';
export { ServiceError, type ErrorBody } from './service-error.js';
export type { CallOptions, Method, Query, RequestParts, SendRequest } from './transport.js';
export type {
  Governed,
  ContextQuery,
  Provenance,
  Entity,
  Relationship,
  Fact,
  ContextAnswer,
  Json,
  EntityRef,
  NewEntity,
  NewRelationship,
  ContextToSave,
  CatalogToIngest,
  SavedContext,
  DocsTopic,
  Docs,
  AgentRun,
  StartedRun,
  SavedSkill,
  ModelSettings,
  RepositoryBinding,
  OntologyState,
  ProjectMode,
  DryRun,
  Orchestration,
  Orchestrated,
} from './gateway-types.js';
export type {
  LifecycleStatus,
  Lifecycle,
  ApprovalStatus,
  Approval,
  ApprovalWithToken,
  AuditEntry,
  AuditCheckpoint,
  AuditVerification,
  PolicyDecision,
} from './governance-types.js';
export type {
  ActionCategory,
  SchemaField,
  NewAction,
  Action,
  NewSkill,
  Skill,
  NewAgent,
  Agent,
  NewAgentflow,
  AgentflowChanges,
  Agentflow,
  Promotion,
} from './agentflow-types.js';
export type {
  ExecutionStatus,
  NewExecution,
  AgentOutput,
  Preview,
  Execution,
  PreviewDecision,
  Step,
  Monitoring,
  MovedExecution,
  ExecutionEvent,
  ModelDelta,
} from './execution-types.js';
export type {
  Overlap,
  NewSchedule,
  ScheduleChanges,
  Schedule,
  ScheduleRun,
  ScheduleRuns,
  ColumnType,
  ObjectField,
  NewColumn,
  Column,
  Table,
  RowValues,
  TableRecord,
  FileToUpload,
  StoredFile,
} from './platform-types.js';
