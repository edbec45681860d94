import type { Deps } from '../deps.js';
import type { Operation } from '../../governance/operations/operation.js';
import { startRules, steerRules } from '../executions/rules.js';
import { createSkillRules } from '../skills/rules.js';
import type { Tool } from '../../governance/tools/tool.js';
import { bindRepositoryOperation, createBindRepositoryTool } from './bind-repository.js';
import { catalogIngestOperation, createCatalogIngestTool } from './catalog-ingest.js';
import { createDocsTool, docsOperation } from './docs.js';
import { createOntologyTool, ontologyOperation } from './ontology.js';
import { createOrchestrateTool } from './orchestrate.js';
import {
  createProjectModeTool,
  createReadProjectModeTool,
  projectModeOperation,
  readProjectModeOperation,
} from './project-mode.js';
import { createQueryContextTool, queryContextOperation } from './query-context.js';
import { createRunAgentTool } from './run-agent.js';
import { createSaveContextTool, saveContextOperation } from './save-context.js';
import { createSaveModelTool, saveModelOperation } from './save-model.js';
import { createSaveSkillTool } from './save-skill.js';

/** What rules know of each tool. */
export const toolOperations: readonly Operation[] = [
  queryContextOperation,
  saveContextOperation,
  catalogIngestOperation,
  ontologyOperation,
  docsOperation,
  startRules,
  steerRules,
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
    createQueryContextTool({ graph, redact, collections }),
    createSaveContextTool({ graph }),
    createOntologyTool({ graph, collections }),
    createDocsTool({
      graph,
      collections,
      quotaUsage: (subject) => governance.quota.usage(subject),
      policyVersion: (organizationId) => governance.policies.versionInForce(organizationId),
      tools: () => tools,
      errors,
    }),
    createRunAgentTool(deps),
    createOrchestrateTool(deps),
    createSaveSkillTool(deps),
    createSaveModelTool({ collections }),
    createBindRepositoryTool({ collections, box: auth.box }),
    createCatalogIngestTool({ graph }),
    createReadProjectModeTool({ collections }),
    createProjectModeTool({ collections }),
  ];
  return tools;
}
