import { namesOf } from '../../../auth/users.js';
import { OutboundError } from '../../../outbound/outbound-error.js';
import type { Collections } from '../../../stores/collections.js';

/**
 * A personal account serves only runs that its owner alone caused. Otherwise, whoever edits an agentflow, a schedule or a call
 * of the owner would act with the owner's account (confused deputy).
 * @throws OutboundError `authorization_needed`, with the names of the other people
 */
export async function requireOwnRun(
  collections: Pick<Collections, 'executions' | 'users'>,
  { execution_id, executed_by: owner }: { execution_id: string; executed_by: string },
): Promise<void> {
  const projection = { caused_by: 1, shaped_by: 1 };
  const run = await collections.executions.findOne({ _id: execution_id }, { projection });
  const people = new Set([...(run?.caused_by ?? []), ...(run?.shaped_by ?? [])]);
  people.delete(owner);
  if (run && people.size === 0) return;
  const names = await namesOf(collections, [...people]);
  const others = [...people].map((id) => names.get(id) ?? id).join(', ') || 'somebody else';
  throw new OutboundError(
    'authorization_needed',
    `the MCP server is authorized by each person, and this run was also caused by ${others}, so it does not use the account of its person: start a run of a copy of the agentflow that only this person has made and edited, or authorize the server for the project`,
  );
}
