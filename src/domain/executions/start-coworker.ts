import type { StartCoworkerRequest } from '../../../workflows/connector-events/activities.js';
import { refuseFormerMember } from '../../auth/former-members.js';
import { memberOf, type Principal } from '../../auth/principal.js';
import type { Deps } from '../deps.js';
import { createExecution, type NewExecution } from './operations/create.js';
import { execute } from './operations/moves.js';
import { startOnBehalf } from './operations/start-on-behalf.js';
import { findConnector, pauseIfOwnerLeft } from '../connectors/operations/store.js';

/** Prepares and executes the coworker's execution. @throws AppError `access_denied` if its person has left the project */
export async function startCoworker(deps: Deps, request: StartCoworkerRequest): Promise<{ execution_id: string }> {
  const { start, connector_id, callback } = request;
  const { execution_id, agentflow_id: agentflowId } = start;
  const principal = principalOf(request);
  const { collections } = deps.mongo;
  const connector = await findConnector(collections, connector_id);
  if (connector) await pauseIfOwnerLeft(collections, connector);
  await refuseFormerMember(collections, principal, 'connector');
  const { location } = callback.payload;
  const document = location === undefined ? null : (await deps.blobs.get(location)).toString('utf8');
  const causedBy = connector?.triggers_edited_by ?? [];
  await startOnBehalf(deps, { channel: 'callback', principal, agentflowId, executionId: execution_id }, () =>
    createExecution(deps, principal, inputOf(request, document), { id: execution_id, causedBy }),
  );
  await execute(deps, principal, execution_id, callback.callback_id);
  return { execution_id };
}

/** Passes a payload that was too large for a signal as a document, because the execution's record contains the inputs. */
function inputOf({ start, connector_id, callback }: StartCoworkerRequest, document: string | null): NewExecution {
  const { callback_id, kind, event, event_id, received_at, payload } = callback;
  const trigger = { connector_id, callback_id, kind, event, event_id, received_at, encoding: payload.encoding };
  return {
    agentflow_id: start.agentflow_id,
    goal: start.goal,
    input_variables: { trigger, payload: payload.value },
    runtime_inputs: {},
    files: document === null ? [] : [{ name: 'payload.json', mime_type: 'application/json', content: document }],
    start_from_agent_id: null,
    parent_execution_id: null,
  };
}

/** The connector acts for the person who created it, in its own project only. */
function principalOf({ start }: StartCoworkerRequest): Principal {
  const { user_id: userId, organization_id: organizationId, project_id: projectId } = start;
  return memberOf({ userId, organizationId, projectId }, ['svc:agent.run']);
}
