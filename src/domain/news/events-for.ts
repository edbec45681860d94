import { seesAllRuns, type Principal } from '../../auth/principal.js';
import type { Deps } from '../deps.js';
import { visibleRuns } from '../executions/operations/read.js';
import type { ProjectEvent } from './record.js';

type Stores = Pick<Deps, 'mongo'>;

/** The events that the caller may see: all of them, or those of its own runs, approvals and memories. */
export async function eventsFor(
  deps: Stores,
  principal: Principal,
  events: readonly ProjectEvent[],
): Promise<readonly ProjectEvent[]> {
  if (seesAllRuns(principal)) return events;
  const own = await Promise.all(events.map((event) => isOwn(deps, principal, event)));
  return events.filter((_, at) => own[at]);
}

async function isOwn({ mongo }: Stores, principal: Principal, { type, data }: ProjectEvent): Promise<boolean> {
  const { executions, approvals, memories } = mongo.collections;
  const only = { projection: { _id: 1 } };
  if (type === 'opened') return true;
  if (type === 'schedule_changed' || type === 'records_changed') return false;
  if (type !== 'inbox_changed')
    return (await executions.findOne({ _id: data.execution_id, ...visibleRuns(principal) }, only)) !== null;
  const [, _id = ''] = data.item_id.split(':');
  const { userId } = principal;
  const found =
    data.kind === 'approval'
      ? await approvals.findOne({ _id, requested_by: userId }, only)
      : await memories.findOne({ _id, user_id: userId }, only);
  return found !== null;
}
