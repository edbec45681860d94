import { createLoadSchedules } from '../src/connectors/load-schedules.js';
import type { Deps } from '../src/deps.js';
import { createSmtpClient } from '../src/outbound/smtp-client.js';
import { createExecution } from '../src/platform/resources/executions/create.js';
import { execute } from '../src/platform/resources/executions/moves.js';
import { createQueryAsExecution } from '../src/gateway/query-as-execution.js';
import type { ApprovalActivities } from '../workflows/approval/activities.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';
import type { CatalogSyncActivities } from '../workflows/catalog-sync/activities.js';
import type { CodeSyncActivities } from '../workflows/code-sync/activities.js';
import type { ColumnRemovalActivities } from '../workflows/column-removal/activities.js';
import type { ConnectorEventsActivities } from '../workflows/connector-events/activities.js';
import type { CoworkerRunActivities } from '../workflows/coworker-run/activities.js';
import type { ProjectRemovalActivities } from '../workflows/project-removal/activities.js';
import type { ScheduleChangeActivities } from '../workflows/schedule-change/activities.js';
import type { KnowledgeUploadActivities } from '../workflows/knowledge-upload/activities.js';
import type { ConnectorLoadActivities } from '../workflows/connector-load/activities.js';
import { createActionActivities, createCallAction } from './action.js';
import { createAnomalyActivities } from './anomaly.js';
import { createApprovalActivities } from './approvals.js';
import { createCatalogActivities } from './catalog.js';
import { createCodeSyncActivities } from './code-sync.js';
import { createConnectorLoadActivities } from './connector-load.js';
import { createConnectorActivities, type ExecutionPort } from './connectors.js';
import { createDocumentActivities } from './documents.js';
import { createExecutionRecordActivities } from './execution-records.js';
import { createKnowledgeBase, type KnowledgeBase } from './knowledge-base.js';
import { createKnowledgeUploadActivities } from './knowledge-upload.js';
import { createModelActivities } from './model.js';
import { createPreviewActivities } from './preview.js';
import { createProjectRemovalActivities } from './project-removal.js';
import { createTableActivities } from './tables.js';
import { createScheduleActivities } from './schedules.js';

export type Activities = AgentflowExecutionActivities &
  ApprovalActivities &
  CatalogSyncActivities &
  CodeSyncActivities &
  ColumnRemovalActivities &
  ConnectorEventsActivities &
  ConnectorLoadActivities &
  CoworkerRunActivities &
  KnowledgeUploadActivities &
  ProjectRemovalActivities &
  ScheduleChangeActivities;

/** Everything that workflows do to the world outside. */
export function createActivities(deps: Deps): Activities {
  const { config, metrics, mongo, graph, blobs, http, models, temporal } = deps;
  const { audit } = deps.governance;
  const secrets = deps.auth.box;
  const loads = createLoadSchedules({ collections: mongo.collections, temporal });
  const callAction = createCallAction({ http, smtp: createSmtpClient(config), mongo, secrets });
  return {
    ...createDocumentActivities({ blobs, files: deps.files.store }),
    ...createActionActivities(callAction),
    ...createExecutionRecordActivities({ mongo, customers: deps.customers, metrics }),
    ...createModelActivities({ models, knowledge: knowledgeOf(deps), collections: mongo.collections }),
    ...createAnomalyActivities({ models }),
    ...createPreviewActivities(),
    ...createScheduleActivities(deps),
    ...createApprovalActivities({ mongo, secrets }),
    ...createCatalogActivities({ catalog: config.catalog, mongo, graph, audit, metrics }),
    ...createCodeSyncActivities({ mongo, graph, audit }),
    ...createProjectRemovalActivities(deps),
    ...createTableActivities({ mongo }),
    ...createKnowledgeUploadActivities({ mongo, graph, files: deps.files, audit }),
    ...createConnectorActivities({ mongo, blobs, http, secrets, executions: executionsOf(deps), loads }),
    ...createConnectorLoadActivities({ mongo, graph, audit, callAction, loads }),
  };
}

function knowledgeOf(deps: Deps): KnowledgeBase {
  return createKnowledgeBase({ collections: deps.mongo.collections, customers: deps.customers, query: createQueryAsExecution(deps) });
}

function executionsOf(deps: Deps): ExecutionPort {
  return {
    create: (principal, input, id) => createExecution(deps, principal, input, id),
    execute: (principal, id, idempotencyKey) => execute(deps, principal, id, idempotencyKey),
  };
}
