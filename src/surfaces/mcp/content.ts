import type { Principal } from '../../auth/principal.js';
import type { Deps } from '../../domain/deps.js';
import type { GovernedTools } from '../../governance/tools/perform-tool.js';
import { toolNamed } from '../../governance/tools/tool.js';
import type { RecheckCredentials } from './caller.js';
import { createContextResources, type ContextResources, type ResourceRead } from './context-resources.js';
import { createAwaitDecision, type AwaitDecision } from './await-decision.js';
import type { CallOutcome, Exchange } from './exchange.js';
import { waitForExecution, withProgress } from './execution-tools.js';
import { createFollowExecution, type ReadExecution } from './follow-execution.js';
import { readLive } from '../../domain/executions/operations/live.js';
import { createGovern } from './govern.js';
import { createWaitForRun, governedTool, type Govern, type McpTool, type ToolDefinition } from './mcp-tool.js';
import { rpcCodes, rpcError } from './rpc-errors.js';
import { createTasks, type Tasks, type TaskView } from './tasks.js';
import { writeQuery, writeQueryPrompt, type PromptMessages } from './write-query-prompt.js';

/** The content of the server, independent of the protocol version. The server of each SDK adapts it. */
export interface Content {
  info: { name: string; title: string; version: string };
  instructions: string;
  tools: {
    list(principal: Principal): ToolDefinition[];
    /**
     * Makes a call without waiting for the run that it starts.
     * @throws a JSON-RPC error for an unknown name; every other refusal is an outcome
     */
    call(name: string, input: Record<string, unknown>, exchange: Exchange): Promise<CallOutcome>;
    /** Waits for the run that an outcome refers to, if the tool waits. */
    wait(name: string, input: Record<string, unknown>, outcome: CallOutcome, exchange: Exchange): Promise<CallOutcome>;
    /** Waits a limited time for the decision on a held call. */
    decided: AwaitDecision;
    /** Returns the number of calls in progress. */
    running(): number;
  };
  tasks: Pick<Tasks, 'read' | 'cancel'> & {
    keep(
      name: string,
      input: Record<string, unknown>,
      outcome: CallOutcome,
      exchange: Exchange,
      whenFinal?: 'always',
    ): Promise<TaskView | undefined>;
  };
  resources: ContextResources;
  prompts: {
    list(principal: Principal): (typeof writeQueryPrompt)[];
    get(name: string, promptArguments: Record<string, unknown>, exchange: Exchange): Promise<PromptMessages>;
  };
  /** Returns the governed call that a client's message requests. */
  governedBy(message: unknown): ResourceRead | undefined;
  govern: Govern;
}

const instructions = [
  'Governed access to the context graph and the agents of one project.',
  'Every call is checked, recorded and answered with a lifecycle_id. A refusal names its stage (error) and why; only S3:rate-quota is worth repeating unchanged, after retry_after seconds.',
  'A call held for approval answers status pending_approval: repeat it with its approval_id once it is approved.',
  'Read context://ontology before writing queries; run_agent starts an execution and wait_for_execution follows it.',
].join(' ');

interface ContentOptions {
  recheckCredentials: RecheckCredentials;
  version: string;
  baseUrl(): string;
}

export function createContent(
  gateway: GovernedTools,
  deps: Deps,
  { recheckCredentials, version, baseUrl }: ContentOptions,
): Content {
  const { approvals } = deps.governance;
  const readExecution: ReadExecution = (principal, id) => readLive(deps, principal, id);
  const approvalPage = (projectId: string, id: string) => `${baseUrl()}/console/projects/${projectId}/approvals/${id}`;
  const stopping = deps.stopping.signal;
  const govern = createGovern({ pipeline: gateway.pipeline, approvals, approvalPage, log: deps.log });
  const docs = toolNamed(gateway.tools, 'docs');
  const orchestrate = toolNamed(gateway.tools, 'orchestrate');
  const { tools, named } = createMcpTools(gateway, govern);
  const waitForRun = createWaitForRun(createFollowExecution({ readExecution, recheckCredentials, stopping }));
  const resources = createContextResources(gateway.tools, govern);
  const tasks = createTasks({
    tasks: deps.mongo.collections.mcp_tasks,
    box: deps.auth.box,
    approvals,
    readExecution,
    govern,
    orchestrate,
    toolNamed: named,
    stopping,
  });
  const work = createCounter();

  return {
    info: { name: 'governed-context-service', title: 'Governed Context and Workflow Service', version },
    instructions,
    tools: {
      list: (principal) => tools.filter((tool) => tool.visibleTo(principal)).map(({ definition }) => definition),
      call: async (name, input, exchange) => work.counted(() => named(name).call(input, exchange)),
      wait: (name, input, outcome, exchange) => work.counted(() => waitForRun(named(name), input, outcome, exchange)),
      decided: createAwaitDecision({ approvals, recheckCredentials, stopping }),
      running: work.running,
    },
    tasks: {
      keep: (name, input, outcome, exchange, whenFinal) => tasks.keep(named(name), input, outcome, exchange, whenFinal),
      read: (id, exchange) => work.counted(() => tasks.read(id, exchange)),
      cancel: (id, exchange) => work.counted(() => tasks.cancel(id, exchange)),
    },
    resources,
    prompts: {
      list: ({ grants }) => (grants.includes('svc:docs.read') ? [writeQueryPrompt] : []),
      get(name, promptArguments, exchange) {
        if (name !== writeQueryPrompt.name)
          throw rpcError(rpcCodes.invalidParams, `the prompt ${name.slice(0, 100)} does not exist`);
        return writeQuery(docs, govern, promptArguments.question, exchange);
      },
    },
    governedBy(message) {
      const { method, params } = fieldsOf(message);
      const { name, uri, arguments: fields } = fieldsOf(params);
      if (method === 'resources/read') return resources.reading(String(uri));
      if (method === 'prompts/get' && name === writeQueryPrompt.name) return { tool: docs, input: { topic: 'query' } };
      const tool = method === 'tools/call' ? tools.find(({ definition }) => definition.name === name) : undefined;
      return tool && { tool: tool.governed, input: fieldsOf(fields) };
    },
    govern,
  };
}

function createMcpTools(
  gateway: GovernedTools,
  govern: Govern,
): { tools: readonly McpTool[]; named(name: string): McpTool } {
  const tools = gateway.tools.map((tool) =>
    tool.name === 'run-agent' ? withProgress(governedTool(tool, govern)) : governedTool(tool, govern),
  );
  tools.push(waitForExecution(toolNamed(gateway.tools, 'orchestrate'), govern));
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  return {
    tools,
    named(name) {
      const tool = byName.get(name);
      if (!tool) throw rpcError(rpcCodes.invalidParams, `the tool ${name.slice(0, 100)} does not exist`);
      return tool;
    },
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Counts the work in progress, so that the process can wait for it before it stops. */
function createCounter() {
  let running = 0;
  return {
    running: () => running,
    async counted<T>(work: () => Promise<T>): Promise<T> {
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
      }
    },
  };
}
