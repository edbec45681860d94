import { namesOf } from '../../../auth/users.js';
import { OutboundError } from '../../../outbound/outbound-error.js';
import { agreementTo, influenceOn, readRun, type InfluenceDeps } from './influence.js';

/** A run that is about to use the account of the person for whom it acts. */
interface PersonalUse {
  execution_id: string;
  executed_by: string;
  project_id: string;
  connector_id: string;
}

/**
 * A personal account serves only runs that its owner alone caused, or whose content the owner has agreed to. Otherwise,
 * whoever edits an agentflow, a connector, a schedule or a call of the owner would act with the owner's account (confused
 * deputy).
 * @throws OutboundError `authorization_needed`, with the names of the other people and what the owner can do
 */
export async function requireOwnRun(
  deps: InfluenceDeps,
  { execution_id, executed_by: owner, project_id, connector_id }: PersonalUse,
): Promise<void> {
  const account = { connectorId: connector_id, owner };
  const run = await readRun(deps.collections, execution_id);
  if (!run) throw refused('somebody else', 'start the run again');
  const influence = await influenceOn(deps, account, run);
  const { directed, changed } = influence;
  const names = await namesOf(deps.collections, [...directed, ...changed]);
  const nameOf = (id: string) => names.get(id) ?? id;
  if (directed.length > 0)
    throw refused(
      [...directed, ...changed].map(nameOf).join(', '),
      'this person must start a run that nobody else has started, edited or answered',
    );
  if (changed.length === 0 || (await agreementTo(deps.collections, account, influence))) return;
  throw refused(
    changed.map(nameOf).join(', '),
    `this person can agree to what was changed, in the console at /console/projects/${project_id}/connectors/${connector_id}?run=${execution_id}, or with POST /connectors/${project_id}/${connector_id}/agreements, and then run it again`,
  );
}

function refused(who: string, way: string): OutboundError {
  return new OutboundError(
    'authorization_needed',
    `the MCP server is authorized by each person, and this run was also caused by ${who}, so it does not use the account of its person: ${way}, or authorize the server for the project`,
  );
}
