import type { StartCoworkerRequest } from '../../../workflows/connector-events/activities.js';
import { principalOfMaker, type Maker } from '../../auth/authority.js';
import type { ConnectorDocument } from '../connectors/record.js';
import type { Deps } from '../deps.js';
import { startFacts } from '../releases/operations/resolve.js';
import { createExecution, startRequestIn, type NewExecution } from './operations/create.js';
import { execute } from './operations/moves.js';
import { startOnBehalf } from './operations/start-on-behalf.js';
import { pauseIfPowerless } from '../connectors/operations/store.js';

/** Prepares and executes the coworker's execution. @throws AppError `access_denied` if its owner has lost the authority */
export async function startCoworker(deps: Deps, request: StartCoworkerRequest): Promise<{ execution_id: string }> {
  const { start, connector_id, callback } = request;
  const { execution_id, agentflow_id: agentflowId } = start;
  const { collections } = deps.mongo;
  // A deleted connector still has the authority for the events that it received before.
  const connector = await collections.connectors.findOne({ _id: connector_id });
  if (connector && !connector.is_deleted) await pauseIfPowerless(collections, connector, workOfTrigger.needs);
  const principal = await principalOfMaker(collections, makerOf(request, connector), workOfTrigger);
  const { location } = callback.payload;
  const document = location === undefined ? null : (await deps.blobs.get(location)).toString('utf8');
  const causedBy = connector?.triggers_edited_by ?? [];
  const input = inputOf(request, document);
  const beforeFirstRelease = 'is refused' as const;
  const facts = await startFacts(collections, principal, { ...startRequestIn(input), beforeFirstRelease });
  await startOnBehalf(deps, { entrance: 'event', principal, agentflowId, executionId: execution_id, facts }, () =>
    createExecution(deps, principal, input, { id: execution_id, causedBy, isTriggered: true, beforeFirstRelease }),
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

const workOfTrigger = { what: 'connector', needs: ['svc:agent.run'] } as const;

/** The owner of the connector when the event arrived, in its own project only. */
function makerOf({ start }: StartCoworkerRequest, connector: ConnectorDocument | null): Maker {
  const { user_id: userId, organization_id: organizationId, project_id: projectId } = start;
  return {
    userId,
    organizationId,
    projectId,
    authority: connector?.user_id === userId ? connector.authority : undefined,
  };
}
