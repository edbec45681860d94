import type { ChatModel } from '../src/models/port.js';
import type { HttpClient } from '../src/outbound/http-client.js';
import type { BlobStore } from '../src/stores/blobs.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { ApprovalActivities } from '../workflows/approval/activities.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';
import { createActionActivities } from './action.js';
import { createApprovalActivities, type ApprovalActivityDeps } from './approvals.js';
import { createDocumentActivities } from './documents.js';
import { createExecutionRecordActivities } from './execution-records.js';
import { createModelActivities } from './model.js';

export interface ActivityDeps {
  mongo: Mongo;
  blobs: BlobStore;
  http: HttpClient;
  models: ChatModel;
  secrets: ApprovalActivityDeps['secrets'];
}

/** Everything that workflows do to the world outside. */
export function createActivities({ mongo, blobs, http, models, secrets }: ActivityDeps): AgentflowExecutionActivities & ApprovalActivities {
  return {
    ...createExecutionRecordActivities({ mongo }),
    ...createDocumentActivities({ blobs }),
    ...createActionActivities({ http }),
    ...createModelActivities({ models }),
    ...createApprovalActivities({ mongo, secrets }),
  };
}
