import type { Principal } from '../../auth/principal.js';
import type { Deps } from '../../deps.js';
import type { Gateway } from '../create-gateway.js';
import { toolNamed } from '../tool.js';
import type { Authenticate } from './caller.js';
import { createContextResources, type ContextResources } from './context-resources.js';
import type { CallOutcome, Exchange } from './exchange.js';
import { waitForExecution, withProgress } from './execution-tools.js';
import { createFollowExecution } from './follow-execution.js';
import { createGovern } from './govern.js';
import { governedTool, type McpTool, type ToolDefinition } from './mcp-tool.js';
import { rpcCodes, rpcError } from './rpc-errors.js';
import { writeQuery, writeQueryPrompt, type PromptMessages } from './write-query-prompt.js';

/** What the server holds, in no protocol's words: each SDK's server is an adapter of it. */
export interface Content {
  info: { name: string; title: string; version: string };
  instructions: string;
  tools: {
    list(principal: Principal): ToolDefinition[];
    /** @throws a JSON-RPC error for an unknown name; everything else is an outcome */
    call(name: string, input: Record<string, unknown>, exchange: Exchange): Promise<CallOutcome>;
    /** How many calls are at work. */
    running(): number;
  };
  resources: ContextResources;
  prompts: {
    list(principal: Principal): (typeof writeQueryPrompt)[];
    get(name: string, given: Record<string, unknown>, exchange: Exchange): Promise<PromptMessages>;
  };
}

const instructions = [
  'Governed access to the context graph and the agents of one project.',
  'Every call is checked, recorded and answered with a lifecycle_id. A refusal names its stage (error) and why; only S3:rate-quota is worth repeating unchanged, after retry_after seconds.',
  'A call held for approval answers status pending_approval: repeat it with its approval_id once it is approved.',
  'Read context://ontology before writing queries; run_agent starts an execution and wait_for_execution follows it.',
].join(' ');

export function createContent(gateway: Gateway, deps: Deps, { authenticate, version }: { authenticate: Authenticate; version: string }): Content {
  const govern = createGovern({ pipeline: gateway.pipeline, approvals: deps.governance.approvals, log: deps.log });
  const follow = createFollowExecution({ executions: gateway.ports.executions, authenticate, stopping: deps.stopping.signal });
  const docs = toolNamed(gateway.tools, 'docs');
  const tools = new Map<string, McpTool>();
  let running = 0;
  for (const tool of gateway.tools) {
    const made = governedTool(tool, govern);
    tools.set(made.definition.name, tool.name === 'run-agent' ? withProgress(made, follow) : made);
  }
  tools.set('wait_for_execution', waitForExecution(toolNamed(gateway.tools, 'orchestrate'), govern, follow));

  return {
    info: { name: 'governed-context-service', title: 'Governed Context and Workflow Service', version },
    instructions,
    tools: {
      list: (principal) => [...tools.values()].filter((tool) => tool.visibleTo(principal)).map(({ definition }) => definition),
      async call(name, input, exchange) {
        const tool = tools.get(name);
        if (!tool) throw rpcError(rpcCodes.invalidParams, `there is no tool ${name.slice(0, 100)}`);
        running += 1;
        try {
          return await tool.call(input, exchange);
        } finally {
          running -= 1;
        }
      },
      running: () => running,
    },
    resources: createContextResources(gateway.tools, govern),
    prompts: {
      list: ({ grants }) => (grants.includes('svc:docs.read') ? [writeQueryPrompt] : []),
      get(name, given, exchange) {
        if (name !== writeQueryPrompt.name) throw rpcError(rpcCodes.invalidParams, `there is no prompt ${name.slice(0, 100)}`);
        return writeQuery(docs, govern, given.question, exchange);
      },
    },
  };
}
