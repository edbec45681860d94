import type { Deps } from '../deps.js';
import type { Operation } from '../../governance/operations/operation.js';
import { startRules, steerRules } from '../executions/rules.js';
import { createSkillRules } from '../skills/rules.js';
import type { Tool } from '../../governance/tools/tool.js';
import { bindRepositoryOperation, createBindRepositoryTool } from './bind-repository.js';
import { catalogIngestOperation, createCatalogIngestTool } from './catalog-ingest.js';
import { createDocsTool, docsOperation } from './docs.js';
import { createInboxTool, inboxToolOperation } from './inbox.js';
import { createOntologyTool, ontologyOperation } from './ontology.js';
import { createOrchestrateTool } from './orchestrate.js';
import {
  createProjectModeTool,
  createReadProjectModeTool,
  projectModeOperation,
  readProjectModeOperation,
} from './project-mode.js';
import { createQueryContextTool, queryContextOperation } from './query-context.js';
import { createMemoryTool } from './memory.js';
import { createRememberTool } from './remember.js';
import { createRunAgentTool } from './run-agent.js';
import { createSaveContextTool, saveContextOperation } from './save-context.js';
import { createSaveModelTool, saveModelOperation } from './save-model.js';
import { createSaveSkillTool } from './save-skill.js';
import { createUndoMergeTool } from './undo-merge.js';
import { memoryRules, rememberRules, undoMergeRules } from '../memories/rules.js';

/** What rules know of each tool. */
export const toolOperations: readonly Operation[] = [
  queryContextOperation,
  saveContextOperation,
  rememberRules,
  memoryRules,
  undoMergeRules,
  catalogIngestOperation,
  ontologyOperation,
  docsOperation,
  startRules,
  steerRules,
  inboxToolOperation,
  createSkillRules,
  saveModelOperation,
  bindRepositoryOperation,
  projectModeOperation,
  readProjectModeOperation,
];

/** Every governed tool. REST and MCP serve the same list. `errors` is the list of errors that docs shows. */
export function createTools(deps: Deps, errors: readonly object[]): readonly Tool[] {
  const { graph, redact, governance, auth } = deps;
  const { collections } = deps.mongo;
  const tools: readonly Tool[] = [
    createQueryContextTool({ graph, redact, collections, nearestByText: deps.nearestByText, reranker: deps.reranker }),
    createSaveContextTool({ graph }),
    createRememberTool(deps),
    createMemoryTool(deps),
    createUndoMergeTool({ graph }),
    createOntologyTool({ graph, collections }),
    createDocsTool({
      graph,
      embedder: deps.embedder,
      reranker: deps.reranker,
      collections,
      quotaUsage: (subject) => governance.quota.usage(subject),
      policyVersion: (organizationId) => governance.policies.versionInForce(organizationId),
      tools: () => tools,
      errors,
    }),
    createRunAgentTool(deps),
    createOrchestrateTool(deps),
    createInboxTool(deps),
    createSaveSkillTool(deps),
    createSaveModelTool({ collections }),
    createBindRepositoryTool({ collections, box: auth.box }),
    createCatalogIngestTool({ graph }),
    createReadProjectModeTool({ collections }),
    createProjectModeTool({ collections }),
  ];
  return tools;
}
