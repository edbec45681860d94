import type { Call, QueryOf, ToolAnswer, ToolInput, ToolName } from './call.js';
import type { CallOptions, SendRequest, Transport } from './transport.js';
import type { DocsTopic, DryRun, ProjectMode } from './types.js';

/**
 * Calls of the context gateway. Each call rejects with `ServiceError` if the service refuses it, or if a policy holds
 * it for approval (status 202).
 */
export function createGateway(transport: Transport, call: Call) {
  const request: SendRequest = (method, path, parts = {}, options) =>
    transport.call('gateway', { method, path, isUnsafeToRepeat: method === 'POST', ...parts }, options);
  // One tool represents all: the type of `tool` maps each name to its input and response.
  const tool: CallTool = (name, input, options) =>
    call('post', `/v1/${name}` as '/v1/docs', { body: input as ToolInput<'docs'> }, options) as Promise<never>;
  return {
    /**
     * Sends a request to a route that this version of the client does not know. For known routes, use the typed
     * `client.call`.
     */
    request,
    /** Calls any tool by its name, for example `call('docs', { topic: 'query' })`. */
    call: tool,
    /** Returns what a tool would do, without any effect. */
    dryRun: <T extends ToolName>(name: T, input: ToolInput<T>, options?: CallOptions) =>
      tool(name, { ...input, dry_run: true }, options) as Promise<DryRun>,
    ...createTools(tool),
    ...createProjectMode(call),
    ...createGovernance(call),
  };
}

export type Gateway = ReturnType<typeof createGateway>;

type CallTool = <T extends ToolName>(name: T, input: ToolInput<T>, options?: CallOptions) => Promise<ToolAnswer<T>>;

function createTools(tool: CallTool) {
  const named =
    <T extends ToolName>(name: T) =>
    (input: ToolInput<T>, options?: CallOptions) =>
      tool(name, input, options);
  return {
    queryContext: named('query-context'),
    saveContext: named('save-context'),
    /** Extracts the facts of a text in the background. `memory` returns the progress. */
    remember: named('remember'),
    memory: named('memory'),
    undoMerge: (merge_id: string, options?: CallOptions) => tool('undo-merge', { merge_id }, options),
    /** Stores a draft with `define`, activates it with `commit`, and returns both. */
    ontology: (step: ToolInput<'ontology'> = {}, options?: CallOptions) => tool('ontology', step, options),
    docs: (topic: DocsTopic = 'governance', options?: CallOptions) => tool('docs', { topic }, options),
    /** Runs the promoted version of an agentflow. */
    runAgent: named('run-agent'),
    orchestrate: named('orchestrate'),
    saveSkill: named('save-skill'),
    saveModel: named('save-model'),
    /** `repository` is `owner/name`. Without a branch, pushes to all branches count. */
    bindRepository: named('bind-repository'),
    ingestCatalog: named('catalog/ingest'),
  };
}

function createProjectMode(call: Call) {
  const path = '/v1/projects/{projectId}/mode';
  return {
    mode: (options?: CallOptions) => call('get', path, {}, options),
    setMode: (mode: ProjectMode, options?: CallOptions) => call('put', path, { body: { mode } }, options),
  };
}

function createGovernance(call: Call) {
  const at = (id: string) => ({ params: { id } });
  return {
    lifecycle: (id: string, options?: CallOptions) => call('get', '/v1/lifecycles/{id}', at(id), options),
    lifecycles: (query: QueryOf<'get', '/v1/lifecycles'> = {}, options?: CallOptions) =>
      call('get', '/v1/lifecycles', { query }, options),
    quota: (options?: CallOptions) => call('get', '/v1/quota', {}, options),
    policyDecisions: (query: QueryOf<'get', '/v1/policy-decisions'> = {}, options?: CallOptions) =>
      call('get', '/v1/policy-decisions', { query }, options),

    approvals: (query: QueryOf<'get', '/v1/approvals'> = {}, options?: CallOptions) =>
      call('get', '/v1/approvals', { query }, options),
    /** Returns an approval. For the requester, it contains the resume token once the call is approved. */
    approval: (id: string, options?: CallOptions) => call('get', '/v1/approvals/{id}', at(id), options),
    approve: (id: string, comment?: string, options?: CallOptions) =>
      call('post', '/v1/approvals/{id}/approve', { ...at(id), body: { comment } }, options),
    reject: (id: string, comment?: string, options?: CallOptions) =>
      call('post', '/v1/approvals/{id}/reject', { ...at(id), body: { comment } }, options),

    auditEntries: (query: QueryOf<'get', '/v1/audit'> = {}, options?: CallOptions) =>
      call('get', '/v1/audit', { query }, options),
    verifyAudit: (options?: CallOptions) => call('get', '/v1/audit/verify', {}, options),
  };
}
