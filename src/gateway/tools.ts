import type { Deps } from '../deps.js';
import type { PlatformPorts } from './ports.js';
import type { Tool } from './tool.js';
import { createBindRepositoryTool } from './tools/bind-repository.js';
import { createOrchestrateTool } from './tools/orchestrate.js';
import { createRunAgentTool } from './tools/run-agent.js';
import { createSaveModelTool } from './tools/save-model.js';
import { createSaveSkillTool } from './tools/save-skill.js';

/** Every governed tool; REST and MCP serve the same list. */
export function createTools({ mongo: { collections } }: Deps, ports: PlatformPorts): Tool[] {
  return [
    createRunAgentTool(ports),
    createOrchestrateTool(ports),
    createSaveSkillTool(ports),
    createSaveModelTool({ collections }),
    createBindRepositoryTool({ collections }),
  ];
}
