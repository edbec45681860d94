import * as executions from '../../domain/executions/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';
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

/** Executions (specification, Platform API; contract, executions). */
export const executionRoutes: readonly Route[] = [
  route('POST /execute_flow', executions.prepareExecution, {
    summary: 'Prepare an execution of an agentflow',
    response: { status: 201, description: 'The execution in status `ready`.' },
    idempotent: true,
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
