import type { ToolAnswer, ToolInput } from './call.js';
import type { components } from './openapi.js';

/** Every schema, by its name in the API reference. Times are epoch seconds unless a field says otherwise. */
export type Schemas = components['schemas'];

export type { ConnectionInfo } from './connection.js';

export type ContextQuery = ToolInput<'query-context'>;
export type ContextAnswer = Schemas['ContextAnswer'];
export type Entity = ContextAnswer['entities'][number];
export type Relationship = ContextAnswer['relationships'][number];
export type Fact = ContextAnswer['facts'][number];
export type Provenance = Entity['provenance'];
export type ContextToSave = ToolInput<'save-context'>;
export type EntityInput = NonNullable<ContextToSave['entities']>[number];
export type RelationshipInput = NonNullable<ContextToSave['relationships']>[number];
export type EntityRef = RelationshipInput['from'];
export type CatalogToIngest = ToolInput<'catalog/ingest'>;
export type SavedContext = Schemas['SaveAnswer'];
export type DocsTopic = ToolInput<'docs'>['topic'];
export type Docs = Schemas['DocsAnswer'];
export type AgentRun = ToolInput<'run-agent'>;
export type StartedRun = ToolAnswer<'run-agent'>;
export type SavedSkill = ToolAnswer<'save-skill'>;
export type ModelSettings = ToolInput<'save-model'>;
export type RepositoryBinding = ToolAnswer<'bind-repository'>;
export type OntologyState = Schemas['OntologyState'];
export type ProjectMode = Schemas['ProjectMode']['mode'];
export type DryRun = Schemas['DryRun'];
export type Orchestration = ToolInput<'orchestrate'>;
export type Orchestrated = ToolAnswer<'orchestrate'>;

export type Lifecycle = Schemas['Lifecycle'];
export type LifecycleStatus = Lifecycle['status'];
export type Approval = Schemas['Approval'];
export type ApprovalStatus = Approval['status'];
export type ApprovalWithToken = Schemas['ApprovalWithToken'];
export type AuditEntry = Schemas['ListedAuditEntry'];
export type AuditCheckpoint = Schemas['AuditCheckpoint'];
export type AuditVerification = Schemas['AuditVerification'];
export type PolicyDecision = Schemas['PolicyDecision'];

export type ActionInput = Schemas['ActionInput'];
export type ActionCategory = Action['category'];
export type Action = Schemas['Action'];
export type SchemaField = Schemas['SchemaField'];
export type SkillInput = Schemas['SkillInput'];
export type Skill = Schemas['Skill'];
export type AgentInput = Schemas['AgentInput'];
export type Agent = Schemas['Agent'];
export type AgentflowInput = Schemas['AgentflowInput'];
export type AgentflowChanges = Schemas['AgentflowPatch'];
export type Agentflow = Schemas['Agentflow'];
export type Promotion = Schemas['Promotion'];

export type ExecutionInput = Schemas['ExecutionInput'];
export type Execution = Schemas['Execution'];
export type ExecutionStatus = Execution['status'];
export type AgentOutput = Execution['agents_output'][number];
export type Preview = Schemas['Preview'];
export type PreviewDecision = Schemas['PreviewDecisionInput'];
export type MovedExecution = Schemas['MovedExecution'];
export type StartedExecution = Schemas['StartedExecution'];
export type Monitoring = Schemas['ExecutionMonitoring'];
export type Step = Monitoring['steps'][number];
export type ExecutionEvent = Schemas['ExecutionEvent'];
/** Everything that the stream of an execution contains; `type` tells what `data` contains. */
export type ExecutionStreamEvent = Schemas['ExecutionStreamEvent'];
export type ProjectEvent = Schemas['ProjectEvent'];
/** Words of a model turn in progress. The turn's event contains the whole text. */
export type ModelDelta = Schemas['ModelDeltaEvent'];

export type ScheduleInput = Schemas['ScheduleInput'];
export type ScheduleChanges = Schemas['SchedulePatch'];
export type Schedule = Schemas['Schedule'];
export type Overlap = Schedule['overlap'];
export type ScheduleRuns = Schemas['ScheduleRuns'];
export type ScheduleRun = ScheduleRuns['data'][number];

export type ColumnInput = Schemas['ColumnInput'];
export type ObjectField = NonNullable<ColumnInput['object_fields']>[number];
export type Column = Schemas['Column'];
export type ColumnType = Column['column_type'];
export type Table = Schemas['Table'];
/** The values of a row by `column_id`. */
export type RowValues = Schemas['RecordValues'];
export type TableRecord = Schemas['TableRecord'];

export type StoredFile = Schemas['File'];
export interface FileToUpload {
  name: string;
  content: Blob | Uint8Array | string;
  /** The media type. The service detects the type from the bytes. */
  type?: string;
}
