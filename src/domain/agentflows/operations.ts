import { z } from 'zod';
import { AppError, notFound } from '../../base/errors.js';
import { freeText, textFacts } from '../../governance/operations/operation.js';
import { containing, listOf, listPage, ListQuery, SearchText } from '../../stores/lists.js';
import { epochSeconds } from '../../base/time.js';
import { causesOfAgents, causesOfFlow } from '../caused-rules.js';
import { defineOperation, readsOwn, writes } from '../operation.js';
import { changedAgent, changedAgentflow, contentDigest, newAgent, newAgentflow, withAgent } from './rules.js';
import {
  Agentflow,
  type AgentflowDocument,
  AgentflowPatch,
  AgentPatch,
  EditedAgentflow,
  NewAgent,
  NewAgentflow,
} from './record.js';
import { checkedAgentflow } from './operations/schemas.js';
import {
  findAgentflow,
  refuseBeyondPlan,
  reviseAgentflow,
  storeAgentflow,
  toAgentflow,
  toEditedAgentflow,
} from './operations/store.js';
import { Id, UserId } from '../../base/ids.js';
export { editAgentflow } from './operations/editing.js';
export { agentflowsCollection } from './record.js';
export { agentflowEditorsCollection } from './record/editors.js';

const key = z.object({ id: Id });

export const listAgentflows = defineOperation({
  name: 'agentflow.list',
  ...readsOwn,
  input: ListQuery.extend({
    text: SearchText.optional().describe(
      'Only agentflows whose name or description contains this text (ignoring case), or with this id.',
    ),
  }),
  output: listOf(Agentflow),
  async run({ deps, ctx, input }) {
    const { text } = input;
    const present = {
      projectID: ctx.principal.projectId,
      is_deleted: false,
      ...(text !== undefined && containing(text, 'name', 'description')),
    };
    const page = await listPage(deps.mongo.collections.agentflows, present, input);
    return { ...page, data: page.data.map(toAgentflow) };
  },
});

export const readAgentflow = defineOperation({
  name: 'agentflow.read',
  ...readsOwn,
  key,
  output: EditedAgentflow,
  run: async ({ deps, ctx, key: { id } }) =>
    toEditedAgentflow(await findAgentflow(deps.mongo.collections, ctx.principal, id)),
});

export const readAgentflowForUser = defineOperation({
  name: 'agentflow.read-for-user',
  ...readsOwn,
  key: z.object({ agentflow_id: Id, executed_by: UserId }),
  output: EditedAgentflow,
  run: async ({ deps, ctx, key: { agentflow_id } }) =>
    toEditedAgentflow(await findAgentflow(deps.mongo.collections, ctx.principal, agentflow_id)),
});

/** Throws `validation_failed` with all problems. */
export const createAgentflow = defineOperation({
  name: 'agentflow.create',
  ...writes,
  facts: { name: freeText('name') },
  causes: causesOfFlow((flow) => flow),
  input: NewAgentflow,
  output: EditedAgentflow,
  errors: ['validation_failed', 'plan_limit'],
  async run({ deps, ctx, input }) {
    const agentflow = await checkedAgentflow(deps, newAgentflow(input, ctx.principal, ctx.recordId, epochSeconds()));
    return toEditedAgentflow(await storeAgentflow(deps, agentflow));
  },
});

export const updateAgentflow = defineOperation({
  name: 'agentflow.update',
  ...writes,
  causes: causesOfFlow((flow) => flow),
  facts: textFacts('id'),
  key,
  input: AgentflowPatch,
  output: EditedAgentflow,
  errors: ['validation_failed', 'conflict'],
  async run({ deps, ctx: { principal }, key: { id }, input }) {
    const revised = await reviseAgentflow(deps.mongo.collections, principal, id, async (current) => {
      const next = changedAgentflow(current, input, principal);
      if (!isBasedOn(current, next, input.expected)) return current;
      const changed = await checkedAgentflow(deps, next);
      await refuseBeyondPlan(deps.customers, changed);
      return changed;
    });
    return toEditedAgentflow(revised);
  },
});

/**
 * Whether to apply a change: not if its first attempt has been applied already.
 * @throws AppError `conflict` if it is based on other content
 */
function isBasedOn(current: AgentflowDocument, next: AgentflowDocument, expected: string | undefined): boolean {
  if (expected === undefined) return true;
  const digest = contentDigest(toAgentflow(current));
  if (digest === expected) return true;
  if (digest === contentDigest(toAgentflow(next))) return false;
  throw new AppError(
    'conflict',
    `expected: the agentflow was changed since it was read; its digest is ${digest} now. Read it again, and send its digest with your change`,
  );
}

export const deleteAgentflow = defineOperation({
  name: 'agentflow.delete',
  ...writes,
  facts: textFacts('id'),
  key,
  output: Agentflow,
  errors: ['conflict'],
  async run({ deps: { mongo, customers }, ctx: { principal }, key: { id } }) {
    const deleted = await reviseAgentflow(mongo.collections, principal, id, (current) => ({
      ...current,
      is_deleted: true,
    }));
    await customers.release(deleted.organization_id, 'number_of_coworkers', id);
    return toAgentflow(deleted);
  },
});

/** Idempotent: a repeated request has the same record id, which is the id of its agent unless the request contains one. */
export const addAgent = defineOperation({
  name: 'agentflow.add-agent',
  ...writes,
  causes: causesOfAgents((agent) => [agent]),
  facts: textFacts('id'),
  key,
  input: NewAgent,
  output: EditedAgentflow,
  errors: ['validation_failed', 'plan_limit'],
  async run({ deps, ctx: { principal, recordId }, key: { id }, input }) {
    const agent = newAgent(input, principal, recordId);
    const revised = await reviseAgentflow(deps.mongo.collections, principal, id, async (current) => {
      const isRepeat = current.last_added === recordId || current.agents.some(({ _id }) => _id === recordId);
      if (isRepeat) return current;
      const changed = await checkedAgentflow(deps, { ...withAgent(current, agent), last_added: recordId });
      await refuseBeyondPlan(deps.customers, changed);
      return changed;
    });
    return toEditedAgentflow(revised);
  },
});

export const updateAgent = defineOperation({
  name: 'agentflow.update-agent',
  ...writes,
  causes: causesOfAgents((agent) => [agent]),
  facts: textFacts('id', 'agent_id'),
  key: key.extend({ agent_id: z.string().meta({ example: 'reader' }) }),
  input: AgentPatch,
  output: EditedAgentflow,
  errors: ['validation_failed', 'conflict'],
  async run({ deps, ctx: { principal }, key: { id, agent_id }, input: { _id = agent_id, ...change } }) {
    if (_id !== agent_id) throw new AppError('invalid_request', '_id: must be the id in the path');
    const revised = await reviseAgentflow(deps.mongo.collections, principal, id, (current) => {
      if (!current.agents.some(({ _id }) => _id === agent_id)) throw notFound('the agent');
      const agents = current.agents.map((agent) =>
        agent._id === agent_id ? changedAgent(agent, change, principal) : agent,
      );
      return checkedAgentflow(deps, { ...current, agents });
    });
    return toEditedAgentflow(revised);
  },
});
