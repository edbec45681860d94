import { setTimeout as delay } from 'node:timers/promises';
import type { Principal } from '../../../auth/principal.js';
import type { Customers } from '../../../customers/customers.js';
import { AppError, notFound } from '../../../errors.js';
import type { RequestContext } from '../../../http/context.js';
import { listPage, type ListQuery } from '../../../http/lists.js';
import type { Collections } from '../../../stores/collections.js';
import { insertOnce } from '../../../stores/mongo.js';
import { epochSeconds } from '../../../time.js';
import { problemsOf } from './checks.js';
import { changedAgent, changedAgentflow, newAgent, newAgentflow, withAgent } from './compose.js';
import type { AgentflowDocument, AgentflowPatch, AgentPatch, NewAgent, NewAgentflow } from './schemas.js';

const reviseForMs = 5_000;

export interface AgentflowStores {
  collections: Collections;
  customers: Pick<Customers, 'refuseBeyond'>;
}

/** @throws AppError `validation_failed` naming everything that `problemsOf` finds, `plan_limit` for too many agents */
export async function createAgentflow({ collections, customers }: AgentflowStores, ctx: RequestContext, input: NewAgentflow): Promise<AgentflowDocument> {
  const agentflow = checked(newAgentflow(input, ctx.principal, ctx.recordId, epochSeconds()));
  await refuseTooManyAgents(customers, agentflow);
  return insertOnce(collections.agentflows, agentflow);
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

export async function updateAgentflow({ collections, customers }: AgentflowStores, principal: Principal, id: string, patch: AgentflowPatch) {
  return revise(collections, principal, id, async (current) => {
    const next = checked(changedAgentflow(current, patch, principal));
    if (next.agents.length > current.agents.length) await refuseTooManyAgents(customers, next);
    return next;
  });
}

export async function deleteAgentflow(collections: Collections, principal: Principal, id: string) {
  return revise(collections, principal, id, (current) => ({ ...current, is_deleted: true }));
}

/** A repeat after a crash finds the agent that it made, by the record id of the request, and changes nothing. */
export async function addAgent({ collections, customers }: AgentflowStores, ctx: RequestContext, id: string, input: NewAgent) {
  const agent = newAgent(input, ctx.principal, ctx.recordId);
  return revise(collections, ctx.principal, id, async (current) => {
    const madeBefore = current.agents.some(({ _id }) => _id === ctx.recordId);
    if (madeBefore) return current;
    const next = checked(withAgent(current, agent));
    await refuseTooManyAgents(customers, next);
    return next;
  });
}

export async function updateAgent(collections: Collections, principal: Principal, id: string, agentId: string, patch: AgentPatch) {
  return revise(collections, principal, id, (current) => {
    if (!current.agents.some(({ _id }) => _id === agentId)) throw notFound('the agent');
    const agents = current.agents.map((agent) => (agent._id === agentId ? changedAgent(agent, patch, principal) : agent));
    return checked({ ...current, agents });
  });
}

async function refuseTooManyAgents(customers: AgentflowStores['customers'], { organization_id, agents }: AgentflowDocument): Promise<void> {
  await customers.refuseBeyond(organization_id, 'number_of_agents_per_coworker', agents.length);
}

function checked(agentflow: AgentflowDocument): AgentflowDocument {
  const problems = problemsOf(agentflow);
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  return agentflow;
}

/**
 * Reads, changes and writes; when another change came between, begins again, so that none is lost.
 * `last_used` is the executions' to write and `promoted_version` the promotions', so both stay out of it.
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
    const { _id, last_used: _theirs, promoted_version: _promotions, ...content } = next;
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
