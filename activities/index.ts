import type { SecretBox } from '../src/auth/secret-box.js';
import type { Deps } from '../src/deps.js';
import { createExecution } from '../src/platform/resources/executions/create.js';
import { execute } from '../src/platform/resources/executions/moves.js';
import { createQueryAsExecution } from '../src/gateway/query-as-execution.js';
import type { ApprovalActivities } from '../workflows/approval/activities.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';
import type { CatalogSyncActivities } from '../workflows/catalog-sync/activities.js';
import type { CodeSyncActivities } from '../workflows/code-sync/activities.js';
import type { ConnectorEventsActivities } from '../workflows/connector-events/activities.js';
import { createActionActivities } from './action.js';
import { createApprovalActivities } from './approvals.js';
import { createCatalogActivities } from './catalog.js';
import { createCodeSyncActivities } from './code-sync.js';
import { createConnectorActivities, type ExecutionPort } from './connectors.js';
import { createDocumentActivities } from './documents.js';
import { createExecutionRecordActivities } from './execution-records.js';
import { createKnowledgeBase, type KnowledgeBase } from './knowledge-base.js';
import { createModelActivities } from './model.js';

export type ActivityDeps = Deps & { secrets: SecretBox };

export type Activities = AgentflowExecutionActivities & ApprovalActivities & CatalogSyncActivities & CodeSyncActivities & ConnectorEventsActivities;

/** Everything that workflows do to the world outside. */
export function createActivities(deps: ActivityDeps): Activities {
  const { config, mongo, graph, blobs, http, models, secrets } = deps;
  const { audit } = deps.governance;
  return {
    ...createExecutionRecordActivities({ mongo }),
    ...createDocumentActivities({ blobs }),
    ...createActionActivities({ http }),
    ...createModelActivities({ models, knowledge: knowledgeOf(deps), collections: mongo.collections }),
    ...createApprovalActivities({ mongo, secrets }),
    ...createCatalogActivities({ catalog: config.catalog, mongo, graph, audit }),
    ...createCodeSyncActivities({ mongo, graph, audit }),
    ...createConnectorActivities({ mongo, blobs, http, secrets, executions: executionsOf(deps) }),
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
