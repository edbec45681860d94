import { z } from 'zod';
import type { Deps } from '../../../deps.js';
import { defineRoute, type Route } from '../../../http/define-route.js';
import { ListQuery, listOf, listPage } from '../../../http/lists.js';
import { createExecution, NewExecution } from './create.js';
import { EventMessage, streamEvents } from './events.js';
import { monitor, Monitoring } from './monitoring.js';
import { execute, move } from './moves.js';
import { decidePreview, NewPreviewDecision } from './preview.js';
import { liveState, readExecution } from './read.js';
import { Execution, toExecution } from './record.js';
import { rerun, RerunRequest } from './rerun.js';

const tag = 'executions';
const ExecutionParams = z.object({ execution_id: z.string() });
const ProjectQuery = z.object({ projectID: z.string().optional() });
const MoveBody = z.strictObject({ projectID: z.string().optional(), execution_id: z.string().optional() });
const CancelBody = MoveBody.extend({ reason: z.string().max(500).optional() });
const MoveAnswer = z
  .object({ execution_id: z.string(), status: Execution.shape.status })
  .meta({ id: 'ExecutionStatus', example: { execution_id: '0198f3b0-0000-7000-8000-000000000000', status: 'paused' } });

/** Executions (specification, Platform API; contract, executions). */
export function executionRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/execute_flow',
      permission: 'svc:orchestrate.write',
      tag,
      summary: 'Prepare an execution of an agentflow',
      query: ProjectQuery,
      body: NewExecution,
      response: { status: 201, schema: Execution, description: 'The execution in `ready`.' },
      errors: ['not_found', 'validation_failed', 'plan_limit'],
      idempotent: true,
      handler: ({ body, ctx }) => createExecution(deps, ctx.principal, body, ctx.recordId),
    }),
    defineRoute({
      method: 'get',
      path: '/{projectID}/execution_flows',
      permission: 'svc:orchestrate.read',
      tag,
      summary: 'List executions, newest first',
      params: z.object({ projectID: z.string() }),
      query: ListQuery.extend({ projectID: z.string().optional(), status: Execution.shape.status.optional(), agentflow_id: z.string().optional() }),
      response: { schema: listOf(Execution), description: 'One page of executions.' },
      handler: async ({ query, ctx }) => {
        const { status, agentflow_id } = query;
        const filter = { projectID: ctx.principal.projectId, ...(status && { status }), ...(agentflow_id !== undefined && { agentflow_id }) };
        const page = await listPage(deps.mongo.collections.executions, filter, query);
        return { ...page, data: page.data.map((record) => toExecution(record)) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/execute_flow/{execution_id}',
      permission: 'svc:orchestrate.read',
      tag,
      summary: 'Read an execution, live while it runs',
      params: ExecutionParams,
      query: ProjectQuery,
      response: { schema: Execution, description: 'The execution.' },
      handler: async ({ params, ctx }) => {
        const record = await readExecution(deps, ctx.principal, params.execution_id);
        return toExecution(record, await liveState(deps, record));
      },
    }),
    ...moveRoutes(deps),
    ...decisionRoutes(deps),
    ...observationRoutes(deps),
  ];
}

function moveRoutes(deps: Deps): Route[] {
  const start = defineRoute({
    method: 'post',
    path: '/execute_flow/{execution_id}/execute',
    permission: 'svc:agent.run',
    tag,
    summary: 'Start a prepared execution',
    params: ExecutionParams,
    query: ProjectQuery,
    body: MoveBody,
    response: { schema: MoveAnswer, description: 'Accepted; the status is `ready` until the run has begun.' },
    errors: ['conflict', 'plan_limit'],
    idempotent: true,
    handler: ({ params, ctx }) => execute(deps, ctx.principal, params.execution_id, ctx.idempotencyKey),
  });
  const others = (['pause', 'resume', 'cancel'] as const).map((name) =>
    defineRoute({
      method: 'post',
      path: `/execute_flow/{execution_id}/${name}`,
      permission: 'svc:orchestrate.write',
      tag,
      summary: summaries[name],
      params: ExecutionParams,
      query: ProjectQuery,
      body: CancelBody,
      response: { schema: MoveAnswer, description: 'The new status.' },
      errors: ['conflict'],
      handler: ({ params, body, ctx }) => move(deps, ctx.principal, params.execution_id, name, body.reason),
    }),
  );
  return [start, ...others];
}

function decisionRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/execute_flow/{execution_id}/preview',
      permission: 'svc:orchestrate.write',
      tag,
      summary: 'Approve, edit or reject what an agent is about to do',
      params: ExecutionParams,
      query: ProjectQuery,
      body: NewPreviewDecision,
      response: { schema: MoveAnswer, description: 'The status after the decision.' },
      errors: ['conflict'],
      handler: ({ params, body, ctx }) => decidePreview(deps, ctx.principal, params.execution_id, body),
    }),
    defineRoute({
      method: 'post',
      path: '/execute_flow/{execution_id}/rerun',
      permission: 'svc:orchestrate.write',
      tag,
      summary: 'Prepare the same execution anew, from an agent when one is named',
      params: ExecutionParams,
      query: ProjectQuery,
      body: RerunRequest,
      response: { status: 201, schema: Execution, description: 'The new execution in `ready`.' },
      errors: ['conflict', 'validation_failed'],
      idempotent: true,
      handler: ({ params, body, ctx }) => rerun(deps, ctx.principal, params.execution_id, body.from_agent_id ?? null, ctx.recordId),
    }),
  ];
}

const summaries = {
  pause: 'Pause at the next step boundary',
  resume: 'Go on after a pause',
  cancel: 'End an execution that has not ended',
} as const;

function observationRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/execute_flow/{execution_id}/monitoring',
      permission: 'svc:orchestrate.read',
      tag,
      summary: 'Steps, attempts and the Temporal run',
      params: ExecutionParams,
      query: ProjectQuery,
      response: { schema: Monitoring, description: 'The run as Temporal and the workflow see it.' },
      handler: ({ params, ctx }) => monitor(deps, ctx.principal, params.execution_id),
    }),
    defineRoute({
      method: 'get',
      path: '/execute_flow/{execution_id}/events',
      permission: 'svc:orchestrate.read',
      tag,
      summary: 'Events as they happen (server-sent events)',
      params: ExecutionParams,
      query: ProjectQuery,
      response: { schema: EventMessage, stream: 'text/event-stream', description: 'Resumable by `Last-Event-ID`.', others: { 204: { description: 'Nothing follows.' } } },
      handler: ({ params, ctx }) => streamEvents(deps, ctx.principal, params.execution_id, ctx.req.get('last-event-id'), ctx.res),
    }),
  ];
}
