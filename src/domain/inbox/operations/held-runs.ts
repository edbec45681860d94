import { holdsGrant, isAdmin, type Permission, type Principal } from '../../../auth/principal.js';
import { requirePermission, whatIsMissing } from '../../../auth/require-grant.js';
import { namesOf } from '../../../auth/users.js';
import { AppError, notFound } from '../../../base/errors.js';
import { listPage, type Page } from '../../../stores/lists.js';
import type { Deps } from '../../deps.js';
import type { Hold } from '../../executions/operations/hold.js';
import { move } from '../../executions/operations/moves.js';
import { readExecution } from '../../executions/operations/read.js';
import type { ExecutionDocument } from '../../executions/record.js';
import type { Reply, UnreadItem } from '../record.js';

const fields = { projectID: 1, agentflow: 1, goal: 1, status: 1, execution_context: 1, executed_by: 1 } as const;
export const heldAt = 'execution_context.hold.at';

export type HeldRun = Pick<ExecutionDocument, '_id' | 'status' | 'goal' | 'agentflow' | 'execution_context'>;

/** Whoever steers all runs resumes or ends a held run. */
const steering: Permission = { grant: 'svc:orchestrate.write', right: ['edit'] };

/** Admins and everybody who reads the whole project see held runs. */
function seesHeldRuns(principal: Principal): boolean {
  return isAdmin(principal) || holdsGrant(principal, 'svc:governance.read');
}

/** The runs that are paused because their person has no role that permits them. */
export async function heldRuns(
  { mongo }: Deps,
  principal: Principal,
  paging: { limit: number; cursor?: string | undefined },
): Promise<Page<HeldRun>> {
  // Nobody else gets an item, so the filter finds nothing for them.
  const projectID = seesHeldRuns(principal) ? principal.projectId : '';
  const filter = { projectID, status: 'paused' as const, [heldAt]: { $gt: 0 } };
  return listPage(mongo.collections.executions, filter, paging, heldAt, fieldsNotShown);
}

const fieldsNotShown = { plan: 0, steps: 0, agents_output: 0, previews: 0, input_variables: 0, runtime_inputs: 0 };

/** @throws AppError `not_found` for a run that is not held, and for a caller who does not see held runs */
export async function findHeldRun(deps: Deps, principal: Principal, id: string): Promise<UnreadItem> {
  const run = await readExecution(deps, principal, id, ['_id', ...keysOf(fields)]);
  if (!seesHeldRuns(principal) || !holdOf(run)) throw notFound('the item');
  return toHeldRunItem(deps, principal, run);
}

function keysOf<T extends object>(value: T): (keyof T)[] {
  return Object.keys(value) as (keyof T)[];
}

export function holdOf({ execution_context }: Pick<ExecutionDocument, 'execution_context'>): Hold | undefined {
  return (execution_context.hold ?? undefined) as Hold | undefined;
}

export async function toHeldRunItem(deps: Deps, principal: Principal, run: HeldRun): Promise<UnreadItem> {
  const { user_id, reason, at } = holdOf(run) as Hold;
  const status = run.status === 'paused' ? 'waiting' : run.status === 'failed' ? 'rejected' : 'approved';
  const name = (await namesOf(deps.mongo.collections, [user_id])).get(user_id) ?? user_id;
  const missing = whatIsMissing(principal, steering);
  const hasEnded = status === 'waiting' ? null : `the run is ${status}`;
  const reasonAgainst = missing === undefined ? hasEnded : `deciding needs ${missing}`;
  return {
    _id: `run:${run._id}`,
    kind: 'run',
    title: `${run.agentflow.name}: ${name} has no role that permits this run`,
    body: { execution_id: run._id, user_id, name, reason, goal: run.goal },
    execution_id: run._id,
    approval_id: null,
    created_at: at,
    expires_at: null,
    status,
    may_decide: reasonAgainst === null,
    may_not_decide_reason: reasonAgainst,
  };
}

/** Resumes the run if its person has a role again, or ends it. */
export async function replyToHeldRun(
  deps: Deps,
  principal: Principal,
  item: UnreadItem,
  { decision, edits, reason }: Reply,
  updateId: string,
): Promise<UnreadItem> {
  requirePermission(principal, steering);
  if (edits !== undefined && edits !== null)
    throw new AppError('validation_failed', 'edits: a held run cannot be edited');
  if (decision !== 'approve' && decision !== 'reject')
    throw new AppError('validation_failed', 'decision: must be approve (resume the run) or reject (end it)');
  const name = decision === 'approve' ? 'resume' : 'cancel';
  await move(deps, principal, item.execution_id ?? '', name, { reason, updateId });
  const status = decision === 'approve' ? 'approved' : 'rejected';
  return {
    ...item,
    status,
    may_decide: false,
    may_not_decide_reason: `the run is ${decision === 'approve' ? 'resumed' : 'ended'}`,
  };
}
