import { withScopesInReach } from '../../auth/oauth/scopes.js';
import type { Principal } from '../../auth/principal.js';
import type { Deps } from '../../domain/deps.js';
import type { DomainTool } from '../../domain/operation.js';
import { isJsonObject, type JsonObject } from '../../base/json.js';
import { toolPrefix } from '../../domain/agentflows/rules.js';
import { tools as governedTools } from '../../domain/tools/tools.js';
import { mcpNameOf, toolNamed } from '../../governance/tools/tool.js';
import type { Authenticate, RecheckCredentials } from './caller.js';
import { createContextResources, type ResourceRead } from './context-resources.js';
import { createAwaitDecision } from './await-decision.js';
import type { CallOutcome, Exchange } from './exchange.js';
import { waitForExecution, withProgress } from './execution-tools.js';
import { createFollowExecution, type ReadExecution } from './follow-execution.js';
import { readLive } from '../../domain/executions/operations/live.js';
import { createAgentflowTools } from './agentflow-tools.js';
import { createGovern } from './govern.js';
import { createWaitForRun, governedTool, type Govern, type McpTool } from './mcp-tool.js';
import { rpcCodes, rpcError } from './rpc-errors.js';
import { createTasks } from './tasks.js';
import { writeQuery, writeQueryPrompt } from './write-query-prompt.js';

export type Content = ReturnType<typeof createContent>;

const instructions = [
  'Governed access to the context graph and the agents of one project.',
  'Every call is checked, recorded and answered with a lifecycle_id. A refusal names its stage (error) and why; only S3:rate-quota is worth repeating unchanged, after retry_after seconds.',
  'A call held for approval answers status pending_approval: repeat it with its approval_id once it is approved.',
  'Read context://ontology before writing queries; run_agent starts an execution and wait_for_execution follows it.',
].join(' ');

interface ContentOptions {
  authenticate: Authenticate;
  recheckCredentials: RecheckCredentials;
  version: string;
  baseUrl(): string;
}

/** The content of the server, independent of the protocol version. The server of each SDK adapts it. */
export function createContent(deps: Deps, { authenticate, recheckCredentials, version, baseUrl }: ContentOptions) {
  const { approvals } = deps.governance;
  const readExecution: ReadExecution = (principal, id) => readLive(deps, principal, id);
  const approvalPage = (projectId: string, id: string) => `${baseUrl()}/console/projects/${projectId}/approvals/${id}`;
  const stopping = deps.stopping.signal;
  const govern = createGovern(deps, { authenticate, baseUrl, approvalPage });
  const docs = toolNamed(governedTools, 'docs');
  const orchestrate = toolNamed(governedTools, 'orchestrate');
  const { tools, ofProject, named } = createMcpTools(deps, orchestrate, govern);
  const waitForRun = createWaitForRun(createFollowExecution({ readExecution, recheckCredentials, stopping }));
  const resources = createContextResources(govern);
  const tasks = createTasks({
    tasks: deps.mongo.collections.mcp_tasks,
    box: deps.auth.box,
    counters: deps.mongo.collections.request_counters,
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
      /** The tools that only the project has: its agentflows. */
      ofProject,
      list: (principal: Principal, own: readonly McpTool[]) =>
        [...tools, ...own]
          .filter((tool) => tool.visibleTo(withScopesInReach(principal)))
          .map(({ definition }) => definition),
      /**
       * Makes a call without waiting for the run that it starts.
       * @throws a JSON-RPC error for an unknown name; every other refusal is an outcome
       */
      call: async (name: string, input: JsonObject, exchange: Exchange) =>
        work.counted(async () => (await named(name, exchange)).call(input, exchange)),
      /** Waits for the run that an outcome refers to, if the tool waits. */
      wait: (name: string, input: JsonObject, outcome: CallOutcome, exchange: Exchange) =>
        work.counted(async () => waitForRun(await named(name, exchange), input, outcome, exchange)),
      /** Waits a limited time for the decision on a held call. */
      decided: createAwaitDecision({ approvals, recheckCredentials, stopping }),
      /** Returns the number of calls in progress. */
      running: work.running,
    },
    tasks: {
      keep: async (name: string, input: JsonObject, outcome: CallOutcome, exchange: Exchange, whenFinal?: 'always') =>
        tasks.keep(await named(name, exchange), input, outcome, exchange, whenFinal),
      read: (id: string, exchange: Exchange) => work.counted(() => tasks.read(id, exchange)),
      cancel: (id: string, exchange: Exchange) => work.counted(() => tasks.cancel(id, exchange)),
    },
    resources,
    prompts: {
      list: (principal: Principal) =>
        withScopesInReach(principal).grants.includes('svc:docs.read') ? [writeQueryPrompt] : [],
      get(name: string, promptArguments: JsonObject, exchange: Exchange) {
        if (name !== writeQueryPrompt.name)
          throw rpcError(rpcCodes.invalidParams, `the prompt ${name.slice(0, 100)} does not exist`);
        return writeQuery(docs, govern, promptArguments.question, exchange);
      },
    },
    /** Returns the governed call that a client's message requests. */
    governedBy(message: unknown): ResourceRead | undefined {
      const { method, params } = fieldsOf(message);
      const { name, uri, arguments: fields } = fieldsOf(params);
      if (method === 'resources/read') return resources.reading(String(uri));
      if (method === 'prompts/get' && name === writeQueryPrompt.name) return { tool: docs, input: { topic: 'query' } };
      if (method !== 'tools/call' || typeof name !== 'string') return undefined;
      if (name.startsWith(toolPrefix)) return { tool: toolNamed(governedTools, 'run-agent'), input: {} };
      const tool = tools.find(({ definition }) => definition.name === name);
      return tool && { tool: tool.governed, input: fieldsOf(fields) };
    },
    govern,
  };
}

function createMcpTools(deps: Pick<Deps, 'mongo'>, orchestrate: DomainTool, govern: Govern) {
  const runAgent = withProgress(governedTool(toolNamed(governedTools, 'run-agent'), govern));
  const tools = governedTools.map((tool) => (tool.name === 'run-agent' ? runAgent : governedTool(tool, govern)));
  tools.push(waitForExecution(orchestrate, govern));
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  const ofProject = createAgentflowTools(deps.mongo.collections, { runAgent, govern });

  async function named(name: string, { caller: { principal } }: Exchange): Promise<McpTool> {
    const own = name.startsWith(toolPrefix) ? await ofProject(principal.projectId) : [];
    const tool = byName.get(name) ?? own.find(({ definition }) => definition.name === name);
    if (tool) return tool;
    // REST and the documentation write the names of tools with hyphens.
    const meant = mcpNameOf({ name });
    const hint = byName.has(meant) ? `; its name over MCP is ${meant}` : '';
    throw rpcError(rpcCodes.invalidParams, `the tool ${name.slice(0, 100)} does not exist${hint}`);
  }
  return { tools, ofProject, named };
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
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
