import { expect } from '@jest/globals';
import type { Deps } from '../../../src/domain/deps.js';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { connectorOf } from '../../support/connectors.js';
import { moveExecution, prepareExecution, startExecution, untilExecution } from '../../support/executions.js';
import { flowThatCalls } from '../../support/flows.js';
import { bearerClient } from '../../support/gateway.js';
import { createTable } from '../../support/tables.js';
import { file, send } from '../../support/uploads.js';
import { coworker, scheduled } from '../platform/schedules/schedules.js';

export interface PageCase {
  name: string;
  /** The path in `router.tsx`, after the address of the project. */
  path: string;
  /** The address of the page, if it differs from the path. */
  address?: string;
  /** A text that it shows with data. */
  filled: string;
  /** A text that the page shows in an empty project. Pages of one record have none, because the record is not found. */
  empty?: string;
  /** Whether the page makes a governed call to read its data, so that the project has a lifecycle afterwards. */
  isGoverned?: true;
  /** Whether the page offers a command if its list is empty. */
  offersCommand?: true;
}

const list = (path: string, filled: string, empty: string): PageCase => ({
  ...{ name: path.slice(1), path, filled, empty, offersCommand: true },
});

/** Every page of the app, and a project with data for each of them. */
export async function projectWithEverything(deps: Deps): Promise<{ person: Person; pages: readonly PageCase[] }> {
  const person = await createPerson(deps);
  const { workspace } = person;
  const gateway = bearerClient(workspace.apiKey);
  const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['save-model'] };
  await gateway.put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, ask] });
  const held = (await gateway.post('/v1/save-model', { model: 'held' })).body;
  const waiting = await prepareExecution(workspace, flowThatCalls([]), {
    goal: `a goal without spaces: ${'long'.repeat(40)}`,
  });
  const { execution_id } = await prepareExecution(workspace, flowThatCalls([]));
  await moveExecution(workspace, execution_id, 'execute');
  await untilExecution(workspace, execution_id, 'completed');
  const hourly = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    goal: 'Every hour',
    type: 'interval',
    frequency: 3600,
  });
  const calling = flowThatCalls(['http://127.0.0.1:9/never']);
  const asking = await startExecution(workspace, {
    ...calling,
    agents: calling.agents.map((agent) => ({ ...agent, is_preview_mode_enabled: true })),
  });
  await untilExecution(workspace, asking, { execution_context: { waiting_for: { kind: 'preview' } } });
  const connector = await connectorOf(workspace, 'mcp', { url: 'http://127.0.0.1:9/mcp' });
  const table = await createTable(workspace, [{ column_name: 'Company', column_type: 'string' }], 'Leads');
  await table.insert({ company: 'a company without spaces: '.concat('long'.repeat(40)) });
  expect(await workspace.api.post('/tag', { name: 'reports', color: '#2456c5' })).toMatchObject({ status: 201 });
  const sent = await send(workspace.api, `/file/${workspace.projectID}`, [file('a.txt', 'text')]);
  expect(sent.status).toBe(201);
  const pages: PageCase[] = [
    {
      ...{ name: 'home', path: '/', address: '', filled: 'Failed in the last 24 hours' },
      empty: 'Failed in the last 24 hours: 0',
    },
    { name: 'dashboard', path: '/dashboard', filled: 'By status', empty: 'found no data' },
    list('/runs', 'Goal', 'This project has no runs yet'),
    { name: 'run', path: '/runs/:id', address: `/runs/${execution_id}`, filled: 'agent completed' },
    {
      name: 'run-ready',
      path: '/runs/:id',
      address: `/runs/${waiting.execution_id}`,
      filled: 'The run has not started',
    },
    {
      ...{ name: 'compare', path: '/runs/compare', address: `/runs/compare?left=${execution_id}&right=${asking}` },
      ...{ filled: 'First run', empty: 'was not found' },
    },
    { name: 'run-waiting', path: '/runs/:id', address: `/runs/${asking}`, filled: 'Approve…' },
    list('/inbox', 'oldest first', 'Nothing is waiting for a decision.'),
    list('/agentflows', 'Test flow', 'This project has no agentflows yet.'),
    { name: 'agentflow-new', path: '/agentflows/new', filled: 'First agent', empty: 'First agent' },
    { name: 'agentflow', path: '/agentflows/:id', address: `/agentflows/${hourly.coworker_id}`, filled: 'First agent' },
    list('/schedules', 'runs, ', 'This project has no schedules yet.'),
    { name: 'schedule-new', path: '/schedules/new', filled: 'Agentflow and goal', empty: 'Agentflow and goal' },
    {
      ...{ name: 'schedule', path: '/schedules/:id', address: `/schedules/${hourly._id}` },
      filled: 'Schedule in the Temporal UI',
    },
    { name: 'schedule-edit', path: '/schedules/:id/edit', address: `/schedules/${hourly._id}/edit`, filled: 'Save' },
    { name: 'context', path: '/context', filled: 'Question or Cypher', empty: 'Question or Cypher' },
    {
      ...{ name: 'ontology', path: '/ontology', filled: 'No version is in force yet.', isGoverned: true as const },
      empty: 'No version is in force yet.',
    },
    list('/memories', 'This project remembers no texts yet', 'This project remembers no texts yet'),
    list('/connectors', '2 connectors', 'This project has no connectors yet'),
    {
      ...{ name: 'connector', path: '/connectors/:id', address: `/connectors/${connector._id}` },
      filled: 'Server tools',
    },
    list('/tables', '1 table', 'This project has no tables yet'),
    { name: 'table', path: '/tables/:id', address: `/tables/${table._id}`, filled: '1 row' },
    list('/files', '1 file', 'This project has no files yet'),
    list('/tags', '1 tag', 'This project has no tags yet'),
    list('/syncs', 'This project follows no repositories', 'This project follows no repositories'),
    list('/approvals', 'Set the default model', 'This project has no approvals yet.'),
    { name: 'approval', path: '/approvals/:id', address: `/approvals/${held.approval_id}`, filled: 'Approve…' },
    list('/lifecycles', 'Save a model', 'No governed calls have been made in this project yet'),
    {
      name: 'lifecycle',
      path: '/lifecycles/:id',
      address: `/lifecycles/${held.lifecycle_id}`,
      filled: 'Verify the audit chain',
    },
    // Its next step is the button that adds a rule.
    { name: 'policies', path: '/policies', filled: '1 version', empty: 'No policies are saved.' },
    // The sign-in is an entry.
    { name: 'audit', path: '/audit', filled: 'The chain is valid.', empty: 'The chain is valid.' },
    { name: 'members', path: '/members', filled: '(you)', empty: '(you)' },
    { name: 'keys', path: '/keys', filled: 'active', empty: 'active' },
    { name: 'settings', path: '/settings', filled: 'The project is in', empty: 'The project is in' },
    list('/apps', 'No apps are connected.', 'No apps are connected.'),
    { name: 'profile', path: '/profile', filled: 'Theme', empty: 'Theme' },
    list('/usage', 'Remaining plan credits', 'No credits have been charged yet'),
  ];
  return { person, pages };
}
