import type { Filter } from 'mongodb';
import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import { notFound } from '../../errors.js';
import { ListQuery, listPage, type Page } from '../../http/lists.js';
import { isId } from '../../ids.js';
import type { Collections } from '../../stores/collections.js';
import { policyDecisionView, type PolicyDecision, type PolicyDecisionDocument } from './policy-decision.js';
import { LifecycleStatus, lifecycleView, type Lifecycle, type LifecycleDocument } from './record.js';

export const LifecycleQuery = ListQuery.extend({
  tool: z.string().max(200).optional(),
  status: LifecycleStatus.optional(),
  from: z.coerce.number().optional().meta({ description: 'Epoch seconds; calls that began then or later.' }),
  to: z.coerce.number().optional().meta({ description: 'Epoch seconds; calls that began before.' }),
});
export type LifecycleQuery = z.infer<typeof LifecycleQuery>;

/** The lifecycles of the credential's project, newest first. */
export async function listLifecycles(collections: Collections, principal: Principal, query: LifecycleQuery): Promise<Page<Lifecycle>> {
  const { tool, status, from, to } = query;
  const filter: Filter<LifecycleDocument> = {
    project_id: principal.projectId,
    ...(tool === undefined ? {} : { tool }),
    ...(status === undefined ? {} : { status }),
    ...(from === undefined && to === undefined
      ? {}
      : { created_at: { ...(from === undefined ? {} : { $gte: from }), ...(to === undefined ? {} : { $lt: to }) } }),
  };
  const page = await listPage(collections.lifecycles, filter, query);
  return { ...page, data: page.data.map(lifecycleView) };
}

/** @throws AppError `not_found`, the same for an unknown, a malformed and a foreign id */
export async function readLifecycle(collections: Collections, principal: Principal, id: string): Promise<Lifecycle> {
  const found = isId(id) ? await collections.lifecycles.findOne({ _id: id }) : null;
  if (found?.project_id !== principal.projectId) throw notFound('lifecycle');
  return lifecycleView(found);
}

/** What the policies said of one call; undefined for a decision of another project. */
export async function readPolicyDecision(collections: Collections, principal: Principal, id: string): Promise<PolicyDecision | undefined> {
  const found = await collections.policy_decisions.findOne({ _id: id });
  return found?.project_id === principal.projectId ? policyDecisionView(found) : undefined;
}

/** The policy decisions of the credential's project, newest first. */
export async function listPolicyDecisions(collections: Collections, principal: Principal, query: ListQuery): Promise<Page<PolicyDecision>> {
  const filter: Filter<PolicyDecisionDocument> = { project_id: principal.projectId };
  const page = await listPage(collections.policy_decisions, filter, query);
  return { ...page, data: page.data.map(policyDecisionView) };
}
