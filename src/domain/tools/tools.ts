import type { Deps } from '../deps.js';
import type { Collections } from '../../stores/collections.js';
import type { Operation } from '../../governance/operations/operation.js';
import type { Tool, ToolDefinition } from '../../governance/tools/tool.js';
import { bindRepositoryTool } from './bind-repository.js';
import { catalogIngestTool } from './catalog-ingest.js';
import { docsTool, type DocsDeps } from './docs.js';
import { inboxTool } from './inbox.js';
import { memoryTool } from './memory.js';
import { ontologyTool } from './ontology.js';
import { orchestrateTool } from './orchestrate.js';
import { projectModeTool, readProjectModeTool } from './project-mode.js';
import { queryContextTool } from './query-context.js';
import { rememberTool } from './remember.js';
import { runAgentTool } from './run-agent.js';
import { saveContextTool } from './save-context.js';
import { saveModelTool } from './save-model.js';
import { saveSkillTool } from './save-skill.js';
import { undoMergeTool } from './undo-merge.js';

type ToolDeps = Deps & DocsDeps & { collections: Collections };

/** Every governed tool. REST and MCP serve the same list. */
const definitions: readonly ToolDefinition<ToolDeps>[] = [
  queryContextTool,
  saveContextTool,
  rememberTool,
  memoryTool,
  undoMergeTool,
  ontologyTool,
  docsTool,
  runAgentTool,
  orchestrateTool,
  inboxTool,
  saveSkillTool,
  saveModelTool,
  bindRepositoryTool,
  catalogIngestTool,
  readProjectModeTool,
  projectModeTool,
];

/** The operation of each tool, for rules. */
export const toolOperations: readonly Operation[] = definitions.map(({ operation }) => operation);

/** `errors` is the list of errors that docs shows. */
export function createTools(deps: Deps, errors: readonly object[]): readonly Tool[] {
  const { quota, policies } = deps.governance;
  const given: ToolDeps = {
    ...deps,
    collections: deps.mongo.collections,
    quotaUsage: (subject) => quota.usage(subject),
    policyVersion: (organizationId) => policies.versionInForce(organizationId),
    tools: () => tools,
    errors,
  };
  const tools: readonly Tool[] = definitions.map(({ create }) => create(given));
  return tools;
}
