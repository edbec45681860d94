import { z } from 'zod';
import { defineRoute, type Route } from '../../../http/define-route.js';
import { listOf, ListQuery } from '../../../http/lists.js';
import type { Collections } from '../../../stores/collections.js';
import { promoteAgentflow, Promotion } from './promote.js';
import { Agentflow, AgentflowPatch, AgentPatch, NewAgent, NewAgentflow, type AgentflowDocument } from './schemas.js';
import {
  addAgent,
  createAgentflow,
  deleteAgentflow,
  listAgentflows,
  readAgentflow,
  updateAgent,
  updateAgentflow,
  type AgentflowDeps,
} from './store.js';

const tag = 'agentflows';
const reads = 'svc:orchestrate.read';
const changes = 'svc:orchestrate.write';
const params = z.object({ id: z.string() });
const projectQuery = { projectID: z.string().optional().meta({ description: "By default the credential's project." }) };
const query = z.object(projectQuery);

/** Agentflows with their agents, skills and actions embedded (contract, agentflows; specification, Agentflow). */
export function agentflowRoutes(deps: AgentflowDeps): Route[] {
  return [...readRoutes(deps.mongo.collections), ...changeRoutes(deps), ...agentRoutes(deps)];
}

function readRoutes(collections: Collections): Route[] {
  const response = { schema: Agentflow, description: 'The agentflow.' };
  return [
    defineRoute({
      method: 'get',
      path: '/agentflow',
      permission: reads,
      tag,
      summary: 'List the agentflows of the project',
      query: ListQuery.extend(projectQuery),
      response: { schema: listOf(Agentflow), description: 'Agentflows, newest first.' },
      handler: async ({ ctx, query }) => {
        const page = await listAgentflows(collections, ctx.principal, query);
        return { ...page, data: page.data.map(answerOf) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/agentflow/{id}',
      permission: reads,
      tag,
      params,
      query,
      response,
      summary: 'Read an agentflow',
      handler: async ({ ctx, params: { id } }) => answerOf(await readAgentflow(collections, ctx.principal, id)),
    }),
    defineRoute({
      method: 'get',
      path: '/agentflow/{agentflow_id}/user/{executed_by}/project/{projectID}',
      permission: reads,
      tag,
      query,
      response,
      summary: 'Read an agentflow of a project, for the user who executes it',
      params: z.object({ agentflow_id: z.string(), executed_by: z.string(), projectID: z.string() }),
      handler: async ({ ctx, params: { agentflow_id } }) => answerOf(await readAgentflow(collections, ctx.principal, agentflow_id)),
    }),
  ];
}

function changeRoutes(deps: AgentflowDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/agentflow',
      permission: changes,
      tag,
      query,
      summary: 'Create an agentflow',
      description: 'Without agents it is a draft: it can be saved, not executed. Ids that are left out are generated.',
      body: NewAgentflow,
      response: { status: 201, schema: Agentflow, description: 'The agentflow as stored.' },
      errors: ['validation_failed', 'plan_limit'],
      idempotent: true,
      handler: async ({ ctx, body }) => answerOf(await createAgentflow(deps, ctx, body)),
    }),
    defineRoute({
      method: 'patch',
      path: '/agentflow/{id}',
      permission: changes,
      tag,
      params,
      query,
      summary: 'Change the given fields of an agentflow',
      description: '`agents`, where given, replaces them all.',
      body: AgentflowPatch,
      response: { schema: Agentflow, description: 'The agentflow as changed.' },
      errors: ['validation_failed', 'conflict'],
      handler: async ({ ctx, params: { id }, body }) => answerOf(await updateAgentflow(deps, ctx.principal, id, body)),
    }),
    defineRoute({
      method: 'delete',
      path: '/agentflow/{id}',
      permission: changes,
      tag,
      params,
      query,
      summary: 'Delete an agentflow',
      description: 'Marks it deleted: it is no longer read, listed or executed. Executions keep their embedded copy.',
      response: { schema: Agentflow, description: 'The last record.' },
      errors: ['conflict'],
      handler: async ({ ctx, params: { id } }) => answerOf(await deleteAgentflow(deps, ctx.principal, id)),
    }),
  ];
}

function agentRoutes(deps: AgentflowDeps): Route[] {
  const { collections } = deps.mongo;
  return [
    defineRoute({
      method: 'post',
      path: '/agentflow/{id}/promote',
      permission: changes,
      tag,
      params,
      query,
      summary: 'Freeze the agentflow as its next version',
      description: '`/v1/run-agent` runs the promoted version, whatever is edited afterwards.',
      response: { schema: Promotion, description: 'The version.' },
      errors: ['validation_failed'],
      handler: ({ ctx, params: { id } }) => promoteAgentflow(collections, ctx.principal, id),
    }),
    defineRoute({
      method: 'post',
      path: '/agentflow/{id}/agent',
      permission: changes,
      tag,
      params,
      query,
      summary: 'Add a skilled agent',
      description: 'It comes last in `agents`; no `next_agent` leads to it until one is set.',
      body: NewAgent,
      response: { status: 201, schema: Agentflow, description: 'The agentflow with the new agent.' },
      errors: ['validation_failed', 'plan_limit'],
      idempotent: true,
      handler: async ({ ctx, params: { id }, body }) => answerOf(await addAgent(deps, ctx, id, body)),
    }),
    defineRoute({
      method: 'post',
      path: '/agentflow/{id}/agent/{agent_id}',
      permission: changes,
      tag,
      query,
      summary: 'Change the given fields of a skilled agent',
      description: '`skills`, where given, replaces them all.',
      params: z.object({ id: z.string(), agent_id: z.string() }),
      body: AgentPatch,
      response: { schema: Agentflow, description: 'The agentflow with the agent as changed.' },
      errors: ['validation_failed', 'conflict'],
      handler: async ({ ctx, params: { id, agent_id }, body }) =>
        answerOf(await updateAgent(collections, ctx.principal, id, agent_id, body)),
    }),
  ];
}

/** Without what only we need. */
export function answerOf({ revision: _revision, promoted_version: _promoted, hired_version: _hired, ...agentflow }: AgentflowDocument): Agentflow {
  return agentflow;
}
