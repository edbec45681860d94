import { createAct, type Act } from '../../src/domain/actions/act.js';
import type { ActionDeps } from '../../src/domain/actions/action-call.js';
import { createPrepareAction } from '../../src/domain/actions/call-action.js';
import type { Deps } from '../../src/domain/deps.js';
import { newId } from '../../src/base/ids.js';
import { createMcpClient } from '../../src/outbound/mcp-client.js';
import { createSmtpClient } from '../../src/outbound/smtp-client.js';
import type { ActRequest } from '../../workflows/agentflow-execution/steps/action.js';
import type { Workspace } from './fixture.js';
import { actionTo } from './flows.js';

/** Does what a worker does for each attempt of a step. `clients` replaces the clients of external servers. */
export function actOfWorker(deps: Deps, clients: Partial<Pick<ActionDeps, 'http' | 'mcp'>> = {}): Act {
  const prepare = createPrepareAction({
    http: deps.http,
    smtp: createSmtpClient(deps.config),
    mongo: deps.mongo,
    secrets: deps.auth.box,
    mcp: createMcpClient(deps.http, deps.mcpChecks.problemOfOutput),
    stdio: { commands: {}, folder: '' },
    keepFiles: () => Promise.resolve([]),
    questions: () => () => Promise.resolve({ action: 'cancel' }),
    log: deps.log,
    mcpTokens: { tokenFor: () => Promise.reject(new Error('no tokens')), needScope: () => Promise.resolve() },
    ...clients,
  });
  return createAct({ kernel: deps.kernel, collections: deps.mongo.collections, secrets: deps.auth.box, prepare });
}

/** The call of a step of a new run. */
export function requestTo(url: string, { projectID, organizationId, userId }: Workspace): ActRequest {
  const execution_id = newId();
  return {
    idempotency_key: `${execution_id}/agent/skill/call`,
    project_id: projectID,
    connector_id: null,
    after_seq: 0,
    action: { ...actionTo(url), input_schema: { fields: [] }, output_schema: { fields: [] } },
    context: { goal: '', input_variables: {}, runtime_inputs: {}, documents: [], outputs: [], actions: [] },
    run: {
      ...{ execution_id, organization_id: organizationId, executed_by: userId },
      ...{ agentflow_id: newId(), agentflow_name: 'flow', agentflow_version: 0, agent_id: 'agent', agent_title: '' },
      ...{ started_by: 'person', tokens_spent: 0 },
    },
  };
}
