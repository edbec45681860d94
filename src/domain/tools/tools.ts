import { toolOf } from '../../governance/tools/tool.js';
import type { DomainTool } from '../operation.js';
import { followRepository } from './bind-repository.js';
import { ingestCatalog } from './catalog-ingest.js';
import { readDocs } from './docs.js';
import { inboxTool } from './inbox.js';
import { memoryTool } from './memory.js';
import { ontologyTool } from './ontology.js';
import { orchestrateTool } from './orchestrate.js';
import { readMode, setMode } from './project-mode.js';
import { queryContext } from './query-context.js';
import { remember } from './remember.js';
import { runAgent } from './run-agent.js';
import { saveContext } from './save-context.js';
import { saveModel } from './save-model.js';
import { saveSkillByTool } from './save-skill.js';
import { separateMerge } from './undo-merge.js';

/** Every tool of the gateway. REST and MCP serve the same list. */
export const tools: readonly DomainTool[] = [
  toolOf(queryContext),
  toolOf(saveContext),
  toolOf(remember),
  memoryTool,
  toolOf(separateMerge),
  ontologyTool,
  toolOf(readDocs),
  toolOf(runAgent),
  orchestrateTool,
  inboxTool,
  toolOf(saveSkillByTool),
  toolOf(saveModel),
  toolOf(followRepository),
  toolOf(ingestCatalog),
  toolOf(readMode),
  toolOf(setMode),
];
