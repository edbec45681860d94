import type { NewSkill } from './agentflow-types.js';
import type {
  AgentRun,
  CatalogToIngest,
  ContextAnswer,
  ContextQuery,
  ContextToSave,
  Docs,
  DocsTopic,
  DryRun,
  Governed,
  ModelSettings,
  OntologyState,
  Orchestrated,
  Orchestration,
  ProjectMode,
  RepositoryBinding,
  SavedContext,
  SavedSkill,
  StartedRun,
} from './gateway-types.js';
import type {
  Approval,
  ApprovalStatus,
  ApprovalWithToken,
  AuditEntry,
  AuditVerification,
  Lifecycle,
  LifecycleStatus,
  PolicyDecision,
} from './governance-types.js';
import type { Page, PageQuery } from './page.js';
import type { CallOptions, SendRequest, Transport } from './transport.js';

/** Each call of these makes something new, and the gateway takes no idempotency key. */
const makeAnew = new Set(['run-agent', 'save-skill']);

/**
 * The context gateway. Every call rejects with `ServiceError` where the service refuses, and where a policy holds the call
 * for approval (status 202).
 */
export function createGateway(transport: Transport) {
  const request: SendRequest = (method, path, parts = {}, options) => transport.call('gateway', { method, path, ...parts }, options);
  const call = <T = Record<string, unknown>>(tool: string, input: object, options?: CallOptions) => {
    const outgoing = { method: 'POST', path: `/v1/${encodeURIComponent(tool)}`, body: input, isUnsafeToRepeat: makeAnew.has(tool) } as const;
    return transport.call<Governed<T>>('gateway', outgoing, options);
  };
  return {
    /** Any other route of the gateway, such as `request('GET', '/v1/policies')`. */
    request,
    /** Any tool by its name, such as `call('docs', { topic: 'query' })`. */
    call,
    /** What a tool would do; it has no effect. */
    dryRun: (tool: string, input: object, options?: CallOptions) => call<DryRun>(tool, { ...input, dry_run: true }, options),
    ...createTools(call, request),
    ...createProjectMode(request, transport.workspace.projectId),
    ...createGovernance(request),
  };
}

export type Gateway = ReturnType<typeof createGateway>;

type CallTool = <T>(tool: string, input: object, options?: CallOptions) => Promise<Governed<T>>;

function createTools(call: CallTool, request: SendRequest) {
  return {
    queryContext: (query: ContextQuery, options?: CallOptions) => call<ContextAnswer>('query-context', query, options),
    saveContext: (context: ContextToSave, options?: CallOptions) => call<SavedContext>('save-context', context, options),
    /** With `define` keeps a draft, with `commit` puts it in force, with neither tells both. */
    ontology: (step: { define?: object; commit?: true } = {}, options?: CallOptions) => call<OntologyState>('ontology', step, options),
    docs: (topic: DocsTopic = 'governance', options?: CallOptions) => call<Docs>('docs', { topic }, options),
    /** Starts an agentflow's promoted version; repeated after 429 only, since a fault may come after the start. */
    runAgent: (run: AgentRun, options?: CallOptions) => call<StartedRun>('run-agent', run, options),
    orchestrate: (orchestration: Orchestration, options?: CallOptions) => call<Orchestrated>('orchestrate', orchestration, options),
    /** Repeated after 429 only, as `runAgent` is. */
    saveSkill: (skill: Omit<NewSkill, '_id'>, options?: CallOptions) => call<SavedSkill>('save-skill', skill, options),
    saveModel: (settings: ModelSettings, options?: CallOptions) => call<Required<ModelSettings>>('save-model', settings, options),
    /** `repository` is `owner/name`; without a branch all of them count. */
    bindRepository: (binding: { repository: string; branch?: string }, options?: CallOptions) => call<RepositoryBinding>('bind-repository', binding, options),
    ingestCatalog: (catalog: CatalogToIngest, options?: CallOptions) =>
      request<Governed<SavedContext>>('POST', '/v1/catalog/ingest', { body: catalog }, options),
  };
}

function createProjectMode(request: SendRequest, projectId: string) {
  const path = `/v1/projects/${encodeURIComponent(projectId)}/mode`;
  return {
    mode: (options?: CallOptions) => request<Governed<{ mode: ProjectMode }>>('GET', path, {}, options),
    setMode: (mode: ProjectMode, options?: CallOptions) => request<Governed<{ mode: ProjectMode }>>('PUT', path, { body: { mode } }, options),
  };
}

function createGovernance(request: SendRequest) {
  const get = <T>(path: string, query: PageQuery, options?: CallOptions) => request<T>('GET', path, { query: { ...query } }, options);
  const decide = (id: string, decision: 'approve' | 'reject', comment?: string, options?: CallOptions) =>
    request<Approval>('POST', `/v1/approvals/${encodeURIComponent(id)}/${decision}`, { body: comment === undefined ? {} : { comment } }, options);
  return {
    lifecycle: (id: string, options?: CallOptions) => get<Lifecycle>(`/v1/lifecycles/${encodeURIComponent(id)}`, {}, options),
    lifecycles: (query: PageQuery & { tool?: string; status?: LifecycleStatus; from?: number; to?: number } = {}, options?: CallOptions) =>
      get<Page<Lifecycle>>('/v1/lifecycles', query, options),
    policyDecisions: (query: PageQuery = {}, options?: CallOptions) => get<Page<PolicyDecision>>('/v1/policy-decisions', query, options),

    approvals: (query: PageQuery & { status?: ApprovalStatus } = {}, options?: CallOptions) => get<Page<Approval>>('/v1/approvals', query, options),
    /** Gives its requester the resume token, once it is approved. */
    approval: (id: string, options?: CallOptions) => get<ApprovalWithToken>(`/v1/approvals/${encodeURIComponent(id)}`, {}, options),
    approve: (id: string, comment?: string, options?: CallOptions) => decide(id, 'approve', comment, options),
    reject: (id: string, comment?: string, options?: CallOptions) => decide(id, 'reject', comment, options),

    auditEntries: (query: PageQuery = {}, options?: CallOptions) => get<Page<AuditEntry>>('/v1/audit', query, options),
    verifyAudit: (options?: CallOptions) => get<AuditVerification>('/v1/audit/verify', {}, options),
  };
}
