import * as agentflows from '../../domain/agentflows/operations.js';
import { tryStep } from '../../domain/executions/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';
import { waitForRun } from './wait-for-run.js';

const route = routesOf('agentflows');

const readRoutes: readonly Route[] = [
  route('GET /agentflow', agentflows.listAgentflows, {
    summary: 'List the agentflows of the project',
    response: { description: 'Agentflows, newest first.' },
  }),
  route('GET /agentflow/{id}', agentflows.readAgentflow, {
    summary: 'Read an agentflow',
    response: { description: 'The agentflow.' },
  }),
  route('GET /agentflow/{agentflow_id}/user/{executed_by}/project/{projectID}', agentflows.readAgentflowForUser, {
    summary: 'Read an agentflow of a project on behalf of the user who executes it',
    response: { description: 'The agentflow.' },
  }),
];

const changeRoutes: readonly Route[] = [
  route('POST /agentflow', agentflows.createAgentflow, {
    summary: 'Create an agentflow',
    description:
      'An agentflow without agents is a draft, which can be saved but not executed. Omitted ids are generated.',
    response: { status: 201, description: 'The stored agentflow.' },
    idempotent: true,
  }),
  route('PATCH /agentflow/{id}', agentflows.updateAgentflow, {
    summary: 'Change the given fields of an agentflow',
    description:
      '`agents`, if given, replaces all agents. With `expected`, a change by somebody else in between is not overwritten.',
    response: { description: 'The changed agentflow.' },
  }),
  route('DELETE /agentflow/{id}', agentflows.deleteAgentflow, {
    summary: 'Delete an agentflow',
    description:
      'The agentflow is marked as deleted and can no longer be read, listed or executed. Executions keep their embedded copies.',
    response: { description: 'The last record.' },
  }),
];

const editingRoute = route('POST /agentflow/{id}/editing', agentflows.editAgentflow, {
  summary: 'Say that you edit an agentflow, and read who else does',
  description:
    'A page with an open editor calls this when something changes, and every 20 seconds. A minute after its last call, or after `closed`, the person is no longer named. Several windows of one person count as one. The agentflow stays as it is, and no lifecycle is recorded.',
  response: { description: 'The other people who have an editor of this agentflow open.' },
  repeatable: true,
});

const agentRoutes: readonly Route[] = [
  route('POST /agentflow/{id}/agent', agentflows.addAgent, {
    summary: 'Add a skilled agent',
    description: 'The agent is appended to `agents`. It only runs if the `next_agent` of another agent refers to it.',
    response: { status: 201, description: 'The agentflow with the new agent.' },
    idempotent: true,
  }),
  route('POST /agentflow/{id}/agent/{agent_id}', agentflows.updateAgent, {
    summary: 'Change the given fields of a skilled agent',
    description: '`skills`, if given, replaces all skills.',
    response: { description: 'The agentflow with the changed agent.' },
  }),
];

const trialRoute = route('POST /agentflow/{id}/steps/{step_id}/try', tryStep, {
  summary: 'Try one agent or step',
  description:
    'Starts a run of only this agent or step of the saved agentflow, with its parts and with the given values instead of what comes before it. What it does is real: rules, approvals and credits apply as in every run. `Prefer: wait=30` waits for its end.',
  response: { status: 201, description: 'The execution in status `ready`, or as it is when the wait has ended.' },
  idempotent: true,
  finish: waitForRun,
});

/** Agentflows with their agents, skills and actions embedded (contract, agentflows; specification, Agentflow). */
export const agentflowRoutes: readonly Route[] = [
  ...readRoutes,
  ...changeRoutes,
  editingRoute,
  ...agentRoutes,
  trialRoute,
];
