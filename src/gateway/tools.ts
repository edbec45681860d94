import type { Deps } from '../deps.js';
import type { PlatformPorts } from './ports.js';
import type { Tool } from './tool.js';
import { createBindRepositoryTool } from './tools/bind-repository.js';
import { createCatalogIngestTool } from './tools/catalog-ingest.js';
import { createDocsTool } from './tools/docs.js';
import { createOntologyTool } from './tools/ontology.js';
import { createOrchestrateTool } from './tools/orchestrate.js';
import { createProjectModeTool, createReadProjectModeTool } from './tools/project-mode.js';
import { createQueryContextTool } from './tools/query-context.js';
import { createRunAgentTool } from './tools/run-agent.js';
import { createSaveContextTool } from './tools/save-context.js';
import { createSaveModelTool } from './tools/save-model.js';
import { createSaveSkillTool } from './tools/save-skill.js';

/** Every governed tool; REST and MCP serve the same list. */
export function createTools({ mongo: { collections }, graph, governance }: Deps, ports: PlatformPorts): readonly Tool[] {
  const tools: readonly Tool[] = [
    createQueryContextTool({ graph, collections }),
    createSaveContextTool({ graph }),
    createOntologyTool({ graph, collections }),
    createDocsTool({
      graph,
      collections,
      quotaUsage: (subject) => governance.quota.usage(subject),
      policyVersion: (organizationId) => governance.policies.versionInForce(organizationId),
      tools: () => tools,
    }),
    createRunAgentTool(ports),
    createOrchestrateTool(ports),
    createSaveSkillTool(ports),
    createSaveModelTool({ collections }),
    createBindRepositoryTool({ collections }),
    createCatalogIngestTool({ graph }),
    createReadProjectModeTool({ collections }),
    createProjectModeTool({ collections }),
  ];
  return tools;
}
