import { createLoadSchedules } from '../src/domain/connectors/load-schedules.js';
import { createAct } from '../src/domain/actions/act.js';
import { createCallAction, createPrepareAction } from '../src/domain/actions/call-action.js';
import type { Deps } from '../src/domain/deps.js';
import { startMemory } from '../src/domain/memories/operations.js';
import { createExtraction } from '../src/domain/knowledge/extract-apart.js';
import type { Exchanges } from '../src/domain/executions/exchanges.js';
import { createKnowledgeBase } from '../src/domain/executions/knowledge-base.js';
import { createKeepForRun } from '../src/domain/files/operations/keep-for-run.js';
import { createQuestions } from '../src/domain/mcp-servers/operations/elicitations.js';
import { createMcpTokens } from '../src/domain/mcp-servers/operations/tokens.js';
import { createMcpClient } from '../src/outbound/mcp-client.js';
import { createMcpOauth } from '../src/outbound/mcp-oauth.js';
import { createSmtpClient } from '../src/outbound/smtp-client.js';
import { createSavePartAsPerson } from '../src/domain/tools/save-part-as-person.js';
import { createQueryAsExecution } from '../src/domain/tools/query-as-execution.js';
import type { ApprovalActivities } from '../workflows/approval/activities.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';
import type { CatalogSyncActivities } from '../workflows/catalog-sync/activities.js';
import type { CodeSyncActivities } from '../workflows/code-sync/activities.js';
import type { ColumnRemovalActivities } from '../workflows/column-removal/activities.js';
import type { ConnectorEventsActivities } from '../workflows/connector-events/activities.js';
import type { CoworkerRunActivities } from '../workflows/coworker-run/activities.js';
import type { RememberActivities } from '../workflows/remember/activities.js';
import type { ProjectRemovalActivities } from '../workflows/project-removal/activities.js';
import type { ScheduleChangeActivities } from '../workflows/schedule-change/activities.js';
import type { TextIndexActivities } from '../workflows/text-index/activities.js';
import type { EmbeddingActivities } from '../workflows/embedding/activities.js';
import type { McpToolsActivities } from '../workflows/mcp-tools/activities.js';
import type { KnowledgeUploadActivities } from '../workflows/knowledge-upload/activities.js';
import type { ConnectorLoadActivities } from '../workflows/connector-load/activities.js';
import {
  createActionActivities,
  createAnomalyActivities,
  createContinueActivities,
  createDocumentActivities,
  createModelActivities,
  createPreviewActivities,
} from './agentflow-execution.js';
import { createApprovalActivities } from './approvals.js';
import { createCatalogActivities } from './catalog.js';
import { createCodeSyncActivities } from './code-sync.js';
import { createConnectorLoadActivities } from './connector-load.js';
import { createConnectorActivities } from './connectors.js';
import { createEmbeddingActivities } from './embedding.js';
import { createExecutionRecordActivities } from './execution-records.js';
import { createKnowledgeUploadActivities } from './knowledge-upload.js';
import { createMcpActivities } from './mcp-tools.js';
import { createMemoryActivities } from './memories.js';
import { createProjectRemovalActivities } from './project-removal.js';
import { createTableActivities } from './tables.js';
import { createScheduleActivities } from './schedules.js';
import { createTextIndexActivities } from './text-index.js';

type Activities = AgentflowExecutionActivities &
  ApprovalActivities &
  CatalogSyncActivities &
  CodeSyncActivities &
  ColumnRemovalActivities &
  ConnectorEventsActivities &
  ConnectorLoadActivities &
  CoworkerRunActivities &
  EmbeddingActivities &
  KnowledgeUploadActivities &
  McpToolsActivities &
  ProjectRemovalActivities &
  RememberActivities &
  ScheduleChangeActivities &
  TextIndexActivities;

export function createActivities(deps: Deps, exchanges: Exchanges): Activities {
  const { config, customers, kernel, metrics, mongo, graph, blobs, http, models, temporal } = deps;
  const { collections } = mongo;
  const { audit } = deps.governance;
  const secrets = deps.auth.box;
  const loads = createLoadSchedules({ collections, temporal });
  const knowledge = createKnowledgeBase({ collections, customers, query: createQueryAsExecution(deps) });
  const mcpTokens = createMcpTokens({ collections, box: secrets, oauth: createMcpOauth(http) });
  const mcpServers = {
    mcp: createMcpClient(http, deps.problemOfMcpOutput),
    mcpTokens,
    stdioCommands: config.mcpStdioCommands,
  };
  const keepFiles = createKeepForRun(deps.files);
  const questions = createQuestions({ collections, box: secrets, temporal, waitSeconds: config.mcpElicitationWait });
  const smtp = createSmtpClient(config);
  const prepare = createPrepareAction({ ...{ http, smtp, mongo, secrets, keepFiles, questions }, ...mcpServers });
  const extract = createExtraction();
  return {
    ...createDocumentActivities({ blobs, files: deps.files.store, extract }, exchanges),
    ...createActionActivities(createAct({ kernel, collections, secrets, prepare }), collections, exchanges),
    ...createContinueActivities({ kernel, collections }, exchanges),
    ...createExecutionRecordActivities({ mongo, customers, metrics, temporal, audit, exchanges }),
    ...createModelActivities({ models, knowledge, collections }, exchanges),
    ...createAnomalyActivities({ models }, exchanges),
    ...createPreviewActivities(exchanges),
    ...createScheduleActivities(deps),
    ...createApprovalActivities({ mongo, secrets, temporal, audit }),
    ...createCatalogActivities(deps),
    ...createEmbeddingActivities(deps),
    ...createTextIndexActivities(deps),
    ...createCodeSyncActivities(deps),
    ...createProjectRemovalActivities(deps),
    ...createMemoryActivities({
      ...{ mongo, graph, models, customers, box: secrets, save: createSavePartAsPerson(deps) },
      retentionDays: config.memoryRetentionDays,
    }),
    ...createTableActivities({ mongo }),
    ...createKnowledgeUploadActivities({
      ...deps,
      extract,
      remember: (place, id, memory) => startMemory(deps, place, id, memory),
    }),
    ...createConnectorActivities(deps, loads),
    ...createMcpActivities({ ...mcpServers, collections, box: secrets }),
    ...createConnectorLoadActivities({ ...deps, callAction: createCallAction(prepare) }, loads),
  };
}
