import type { Filter } from 'mongodb';
import { z } from 'zod';
import { seesAllRuns, type Principal } from '../../auth/principal.js';
import { notFound } from '../../base/errors.js';
import { queryNumber } from '../../base/validation.js';
import { ListQuery, listPage, type Page } from '../../stores/lists.js';
import { isId } from '../../base/ids.js';
import type { Collections } from '../../stores/collections.js';
import { toPolicyDecision, type PolicyDecision } from './policy-decision.js';
import {
  LifecycleStatus,
  toLifecycle,
  type DecidedLifecycle,
  type Lifecycle,
  type LifecycleDocument,
} from './record.js';

export const LifecycleQuery = ListQuery.extend({
  tool: z.string().max(200).optional(),
  status: LifecycleStatus.optional(),
  from: queryNumber(z.number()).optional().describe('Epoch seconds; only calls that started at this time or later.'),
  to: queryNumber(z.number()).optional().describe('Epoch seconds; only calls that started before this time.'),
});
export type LifecycleQuery = z.infer<typeof LifecycleQuery>;

/** People who see only their own runs see only their own calls. */
function ofCaller(principal: Principal): Filter<LifecycleDocument> {
  return seesAllRuns(principal) ? {} : { 'principal.user_id': principal.userId };
}

/** The lifecycles of the credential's project, newest first. */
export async function listLifecycles(
  collections: Collections,
  principal: Principal,
  query: LifecycleQuery,
): Promise<Page<Lifecycle>> {
  const { tool, status, from, to } = query;
  const filter: Filter<LifecycleDocument> = {
    project_id: principal.projectId,
    ...ofCaller(principal),
    ...(tool === undefined ? {} : { tool }),
    ...(status === undefined ? {} : { status }),
    ...(from === undefined && to === undefined
      ? {}
      : { created_at: { ...(from === undefined ? {} : { $gte: from }), ...(to === undefined ? {} : { $lt: to }) } }),
  };
  const page = await listPage(collections.lifecycles, filter, query);
  return { ...page, data: page.data.map(toLifecycle) };
}

/** @throws AppError `not_found`; the same error for an unknown, a malformed and an inaccessible id */
export async function readLifecycle(
  collections: Collections,
  principal: Principal,
  id: string,
): Promise<DecidedLifecycle> {
  const found = isId(id) ? await collections.lifecycles.findOne({ _id: id }) : null;
  const isSeen =
    found?.project_id === principal.projectId &&
    (seesAllRuns(principal) || found.principal.user_id === principal.userId);
  if (!isSeen) throw notFound('lifecycle');
  return { ...toLifecycle(found), decision: found.decision ? toPolicyDecision(id, found.decision) : null };
}

/** The policy decisions of the credential's project, newest first. */
export async function listPolicyDecisions(
  collections: Collections,
  principal: Principal,
  query: ListQuery,
): Promise<Page<PolicyDecision>> {
  const page = await listPage(
    collections.lifecycles,
    { 'decision.project_id': principal.projectId, ...ofCaller(principal) },
    query,
  );
  const data = page.data.flatMap(({ _id, decision }) => (decision ? [toPolicyDecision(_id, decision)] : []));
  return { ...page, data };
}
