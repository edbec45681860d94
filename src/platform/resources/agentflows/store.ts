import { setTimeout as delay } from 'node:timers/promises';
import type { Principal } from '../../../auth/principal.js';
import type { Customers } from '../../../customers/customers.js';
import type { Deps } from '../../../deps.js';
import { AppError, notFound } from '../../../errors.js';
import type { RequestContext } from '../../../http/context.js';
import { listPage, type ListQuery } from '../../../http/lists.js';
import type { Collections } from '../../../stores/collections.js';
import { insertOnce } from '../../../stores/mongo.js';
import { epochSeconds } from '../../../time.js';
import { problemsOf } from './checks.js';
import { changedAgent, changedAgentflow, newAgent, newAgentflow, withAgent } from './compose.js';
import type { AgentflowDocument, AgentflowPatch, AgentPatch, NewAgent, NewAgentflow } from './schemas.js';

export type AgentflowDeps = Pick<Deps, 'mongo' | 'customers'>;

const reviseForMs = 5_000;

/** @throws AppError `validation_failed` naming everything that `problemsOf` finds */
export async function createAgentflow(deps: AgentflowDeps, ctx: RequestContext, input: NewAgentflow): Promise<AgentflowDocument> {
  return storeAgentflow(deps, checked(newAgentflow(input, ctx.principal, ctx.recordId, epochSeconds())));
}

/** @throws AppError `plan_limit` where the plan has no place for another, for so many agents, or for what it asks for */
export async function storeAgentflow(deps: AgentflowDeps, agentflow: AgentflowDocument): Promise<AgentflowDocument> {
  await refuseBeyondPlan(deps.customers, agentflow);
  await deps.customers.reserve(agentflow.organization_id, 'number_of_coworkers', agentflow._id);
  return insertOnce(deps.mongo.collections.agentflows, agentflow);
}

async function refuseBeyondPlan(customers: Customers, { organization_id, agents, anomaly_detection }: AgentflowDocument): Promise<void> {
  await customers.refuseBeyond(organization_id, 'number_of_agents_per_coworker', agents.length);
  if (anomaly_detection.is_enabled) await customers.requireFeature(organization_id, 'anomaly_detection');
}

export async function listAgentflows(collections: Collections, principal: Principal, query: ListQuery) {
  return listPage(collections.agentflows, { projectID: principal.projectId, is_deleted: false }, query);
}

/** @throws AppError `not_found`, alike for an unknown, malformed or deleted id and for one of another project */
export async function readAgentflow(collections: Collections, principal: Principal, id: string): Promise<AgentflowDocument> {
  const agentflow = await collections.agentflows.findOne({ _id: id });
  if (!agentflow || agentflow.is_deleted || agentflow.projectID !== principal.projectId) throw notFound('the agentflow');
  return agentflow;
}

export async function updateAgentflow({ mongo, customers }: AgentflowDeps, principal: Principal, id: string, patch: AgentflowPatch) {
  return revise(mongo.collections, principal, id, async (current) => {
    const changed = checked(changedAgentflow(current, patch, principal));
    await refuseBeyondPlan(customers, changed);
    return changed;
  });
}

export async function deleteAgentflow({ mongo, customers }: AgentflowDeps, principal: Principal, id: string) {
  const deleted = await revise(mongo.collections, principal, id, (current) => ({ ...current, is_deleted: true }));
  await customers.release(deleted.organization_id, 'number_of_coworkers', id);
  return deleted;
}

/** A repeat after a crash finds the agent that it made, by the record id of the request, and changes nothing. */
export async function addAgent({ mongo, customers }: AgentflowDeps, ctx: RequestContext, id: string, input: NewAgent) {
  const agent = newAgent(input, ctx.principal, ctx.recordId);
  return revise(mongo.collections, ctx.principal, id, async (current) => {
    if (current.agents.some(({ _id }) => _id === ctx.recordId)) return current;
    const changed = checked(withAgent(current, agent));
    await refuseBeyondPlan(customers, changed);
    return changed;
  });
}

export async function updateAgent(collections: Collections, principal: Principal, id: string, agentId: string, patch: AgentPatch) {
  return revise(collections, principal, id, (current) => {
    if (!current.agents.some(({ _id }) => _id === agentId)) throw notFound('the agent');
    const agents = current.agents.map((agent) => (agent._id === agentId ? changedAgent(agent, patch, principal) : agent));
    return checked({ ...current, agents });
  });
}

function checked(agentflow: AgentflowDocument): AgentflowDocument {
  const problems = problemsOf(agentflow);
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  return agentflow;
}

/**
 * Reads, changes and writes; when another change came between, begins again, so that none is lost.
 * `last_used` is the executions' to write and `promoted_version` the promotions', `is_cron_scheduled`
 * the schedules', so they stay out of it.
 */
async function revise(
  collections: Collections,
  principal: Principal,
  id: string,
  change: (current: AgentflowDocument) => AgentflowDocument | Promise<AgentflowDocument>,
): Promise<AgentflowDocument> {
  const deadline = Date.now() + reviseForMs;
  do {
    const current = await readAgentflow(collections, principal, id);
    const next = await change(current);
    if (next === current) return current;
    const { _id, last_used: _theirs, promoted_version: _promotions, is_cron_scheduled: _schedules, ...content } = next;
    const written = await collections.agentflows.findOneAndUpdate(
      { _id, revision: current.revision },
      { $set: { ...content, updated_at: epochSeconds(), revision: current.revision + 1 } },
      { returnDocument: 'after' },
    );
    if (written) return written;
    await delay(Math.random() * 50);
  } while (Date.now() < deadline);
  throw new AppError('conflict', 'the agentflow is being changed by too many calls at once');
}
