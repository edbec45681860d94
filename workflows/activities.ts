import type { AgentflowExecutionActivities } from './agentflow-execution/activities.js';
import type { ApprovalActivities } from './approval/activities.js';
import type { CatalogSyncActivities } from './catalog-sync/activities.js';
import type { CodeSyncActivities } from './code-sync/activities.js';
import type { ColumnRemovalActivities } from './column-removal/activities.js';
import type { ConnectorEventsActivities } from './connector-events/activities.js';
import type { ConnectorLoadActivities } from './connector-load/activities.js';
import type { CoworkerRunActivities } from './coworker-run/activities.js';
import type { EmbeddingActivities } from './embedding/activities.js';
import type { KnowledgeUploadActivities } from './knowledge-upload/activities.js';
import type { McpToolsActivities } from './mcp-tools/activities.js';
import type { ProjectRemovalActivities } from './project-removal/activities.js';
import type { RememberActivities } from './remember/activities.js';
import type { ScheduleChangeActivities } from './schedule-change/activities.js';
import type { TextIndexActivities } from './text-index/activities.js';

/** The work of services and of connectors. */
export type BackgroundActivities = CatalogSyncActivities &
  CodeSyncActivities &
  ColumnRemovalActivities &
  ConnectorEventsActivities &
  ConnectorLoadActivities &
  EmbeddingActivities &
  McpToolsActivities &
  ProjectRemovalActivities &
  RememberActivities &
  TextIndexActivities;

/** The activities of all workflows. */
export type Activities = BackgroundActivities &
  AgentflowExecutionActivities &
  ApprovalActivities &
  CoworkerRunActivities &
  KnowledgeUploadActivities &
  ScheduleChangeActivities;
