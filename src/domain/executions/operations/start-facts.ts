import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../deps.js';
import type { StartRequest } from '../../releases/operations/resolve.js';
import { isDraft, type ExecutionDocument } from '../record.js';
import { startRequestIn, type NewExecution } from './create.js';
import { readExecution } from './read.js';

/** What rules read about the start of a prepared run. */
export async function agentflowFacts(deps: Deps, principal: Principal, id: string) {
  const record = await readExecution(deps, principal, id, ['agentflow_id', 'flow', 'release']);
  const { agentflow_id, release } = record;
  const facts = { agentflow_id, draft: isDraft(record), release_channel: release?.channel ?? '' };
  return { resource: agentflowOf(agentflow_id), facts };
}

export function byPerson(input: NewExecution): StartRequest {
  return { ...startRequestIn(input), beforeFirstRelease: 'runs the draft' };
}

/** What the audit entry of a start says. */
export async function outcome({ draft }: { draft: boolean }): Promise<string | undefined> {
  return draft ? 'draft' : undefined;
}

export function agentflowOf(id: string) {
  return { type: 'agentflow', id };
}

/** What an approver of a start reads about its run. */
export async function runFacts(deps: Deps, principal: Principal, id: string) {
  const record: ExecutionDocument = await readExecution(deps, principal, id);
  const { agentflow, goal, input_variables, runtime_inputs, start_from_agent_id } = record;
  return { agentflow: agentflow.name, goal, input_variables, runtime_inputs, start_from_agent_id };
}
