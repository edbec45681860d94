import { expect, test } from '@jest/globals';
import { newId } from '../../../../src/ids.js';
import { untilExecution } from '../../../support/executions.js';
import type { Workspace } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { useProtectedServer } from './protected-server.js';

/** Who may influence a run that uses a personal account at an MCP server. */
const at = useProtectedServer();

type Interfere = (run: { flow: string; execution: string; owner: Workspace; other: Workspace }) => Promise<unknown>;

const ways: [string, { before?: Interfere; prepared?: Interfere; starter?: 'other' }][] = [
  ['edited the agentflow', { before: ({ flow, other }) => other.api.patch(`/agentflow/${flow}`, { role: 'Spy' }) }],
  ['started the run that its person had prepared', { starter: 'other' }],
  [
    'edited an act or a preview of the run, or answered a question',
    {
      prepared: ({ execution, other }) =>
        at.deps.mongo.collections.executions.updateOne({ _id: execution }, { $addToSet: { shaped_by: other.userId } }),
    },
  ],
];

test.each(ways)(
  'a personal account does not serve a run if somebody else %s',
  async (_, { before, prepared, starter }) => {
    verifies('mcp-oauth.own-runs');
    const { member: owner, id } = await at.authorized();
    const other = await at.personIn(owner);
    const { name, flow } = at.flowThatCalls(id, 'whoami');
    const made = await owner.api.post(`/agentflow?projectID=${owner.projectID}`, flow);
    expect(made.status).toBe(201);
    const of = { flow: made.body._id, execution: '', owner, other };
    const answer = before && ((await before(of)) as { status: number });
    if (answer) expect(answer.status).toBe(200);
    const request = { agentflow_id: of.flow, goal: newId() };
    const run = await owner.api.post(`/execute_flow?projectID=${owner.projectID}`, request);
    of.execution = run.body.execution_id;
    await prepared?.(of);
    const by = starter === 'other' ? other : owner;
    expect(await by.api.post(`/execute_flow/${of.execution}/execute`, {})).toMatchObject({ status: 200 });
    await untilExecution(owner, of.execution, 'completed');
    expect(at.answersOf(name)).toMatchObject([
      { error: { code: 'authorization_needed', message: expect.stringContaining('also caused by') } },
    ]);
  },
);
