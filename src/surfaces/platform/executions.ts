import * as executions from '../../domain/executions/operations.js';
import { z } from 'zod';
import { defineRoute, routesOf, type Route } from '../rest/define-route.js';
import { streamEvents } from './event-stream.js';
import { waitForRun } from './wait-for-run.js';

const route = routesOf('executions');

const moveRoutes = [
  { name: 'pause', operation: executions.pauseExecution, summary: 'Pause at the next step boundary' },
  { name: 'resume', operation: executions.resumeExecution, summary: 'Resume a paused execution' },
  { name: 'cancel', operation: executions.cancelExecution, summary: 'Cancel an open execution' },
].map(({ name, operation, summary }) =>
  route(`POST /execute_flow/{execution_id}/${name}`, operation, {
    summary,
    response: { description: 'The new status.' },
    idempotent: true,
  }),
);

/** Not an operation of a caller: the address is the credential, and the call performs `execution.event` for its maker. */
const resumeRoute = defineRoute({
  method: 'post',
  path: '/resume/{address}',
  permission: 'public',
  tag: 'executions',
  params: z.object({ address: z.string().max(100) }),
  body: executions.AddressedData,
  takesAnyData: true,
  summary: 'End the wait of an address',
  description:
    'The `url` of `POST /execute_flow/{execution_id}/addresses`. It needs no other credential, and a repeated call has no further effect. The body can also be a form, which is an object of texts, or a text. `GET` has no effect, because previews of links and mail scanners send it.',
  response: {
    schema: z.object({ received: z.literal(true) }).meta({ id: 'AddressCalled', example: { received: true } }),
    description: 'The run has the event.',
    headers: { 'Cache-Control': 'no-store' },
  },
  errors: ['not_found', 'conflict', 'access_denied'],
  async handler({ deps, params: { address }, body }) {
    await executions.callWaitAddress(deps, address, body);
    return { received: true };
  },
});

/** Executions (specification, Platform API; contract, executions). */
export const executionRoutes: readonly Route[] = [
  route('POST /execute_flow', executions.prepareExecution, {
    summary: 'Prepare an execution of an agentflow',
    description: 'With `execute=true`, also starts it; then `Prefer: wait=30` waits for its end, as for `…/execute`.',
    response: { status: 201, description: 'The execution in status `ready`, or as it is when the wait has ended.' },
    idempotent: true,
    finish: (deps, ctx, prepared: { execution_id: string }) =>
      ctx.req.query.execute === 'true' ? waitForRun(deps, ctx, prepared) : Promise.resolve(prepared),
  }),
  route('GET /{projectID}/execution_flows', executions.listExecutions, {
    summary: 'List executions, newest first',
    response: { description: 'One page of executions.' },
  }),
  route('GET /execute_flow/{execution_id}', executions.readExecutionLive, {
    summary: 'Read an execution, live while it runs',
    response: { description: 'The execution.' },
  }),
  route('POST /execute_flow/{execution_id}/execute', executions.startExecution, {
    summary: 'Start a prepared execution',
    description:
      'With `Prefer: wait=30` (RFC 7240), the answer waits up to 30 seconds, at most 60, for the end of the run. `Preference-Applied` confirms it.',
    response: {
      description:
        'The execution is accepted. Its status is `ready` until the run starts. The whole execution, if the caller waited and the run has ended.',
    },
    idempotent: true,
    finish: waitForRun,
  }),
  ...moveRoutes,
  route('DELETE /execute_flow/{execution_id}', executions.deleteExecution, {
    summary: 'Delete an execution that has ended',
    description:
      'Deletes the execution with its steps, events and documents, and its history in Temporal. Its lifecycles, approvals, audit entries and charges stay, and so do the files of its results.',
    response: { description: 'The execution is deleted.' },
  }),
  route('POST /execute_flow/{execution_id}/preview', executions.decideExecution, {
    summary: 'Approve, edit or reject a preview',
    response: { description: 'The status after the decision.' },
    idempotent: true,
  }),
  route('POST /execute_flow/{execution_id}/rerun', executions.rerunExecution, {
    summary: 'Rerun an execution, optionally from a given agent',
    response: { status: 201, description: 'The new execution in status `ready`.' },
    idempotent: true,
  }),
  route('GET /execute_flow/{execution_id}/monitoring', executions.monitorExecution, {
    summary: 'Read the steps, attempts and Temporal run',
    response: { description: 'The steps with their attempts, and the run in Temporal.' },
  }),
  route('GET /execute_flow/{execution_id}/graph', executions.readExecutionGraph, {
    summary: 'Read the flow of a run as a graph',
    response: { description: 'The agents and steps, their pointers, and how often each has run, by state.' },
  }),
  route('GET /execute_flow/{execution_id}/evaluate', executions.evaluateInExecution, {
    summary: 'Evaluate an expression with the values of a run',
    description: 'Changes nothing. The limits are those of an expression in a step. 422 says why it has no value.',
    response: { description: 'The value.' },
  }),
  route('GET /execute_flow/{execution_id}/steps/{number}', executions.readExecutionStep, {
    summary: 'Read what a step sent and received',
    response: { description: 'The step with the prompt, or the request and response, of its last attempts.' },
  }),
  route('POST /execute_flow/{execution_id}/events', executions.sendEvent, {
    summary: 'Send an event to a run',
    description:
      'The first `wait` step for events of this name takes it. It is kept if the run is not at such a step yet, at most 100 at once.',
    response: { description: 'The run has the event.' },
    idempotent: true,
  }),
  route('POST /execute_flow/{execution_id}/addresses', executions.createAddress, {
    summary: 'Create an address that ends a wait',
    description:
      'For systems that can only call a URL. The address works once, and ends with the wait of the step. Only its hash is stored.',
    response: {
      status: 201,
      description: 'The address, which is shown only once.',
      headers: { 'Cache-Control': 'no-store' },
    },
  }),
  resumeRoute,
  route('GET /execute_flow/{execution_id}/events', executions.followExecution, {
    summary: 'Stream events (server-sent events)',
    response: {
      stream: 'text/event-stream',
      description: 'The events. `Last-Event-ID` resumes the stream.',
      others: { 204: { description: 'The stream has ended.' } },
    },
    handler: ({ deps, ctx, key: { execution_id } }) => streamEvents(deps, ctx, execution_id),
  }),
];
