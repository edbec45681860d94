import { describe, expect, test } from '@jest/globals';
import { recordMove } from '../../../src/domain/executions/operations/moves.js';
import { createProjector } from '../../../src/domain/executions/project.js';
import { newId } from '../../../src/base/ids.js';
import type { ExecutionProjection } from '../../../workflows/agentflow-execution/activities.js';
import { useDeps } from '../../support/fixture.js';
import { projectionOf } from '../../support/projections.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const owner = { projectID: newId(), organizationId: newId(), userId: newId() };

async function prepared() {
  const moved: string[] = [];
  const { _id } = await seedExecution(deps, owner, { status: 'ready' });
  const { collections } = deps.mongo;
  const project = createProjector({
    collections,
    customers: deps.customers,
    metrics: { executionMoved: (to) => void moved.push(to) },
  });
  const write = (projection: Partial<ExecutionProjection>, runId = 'run') =>
    project(projectionOf(_id, { organization_id: owner.organizationId, ...projection }), runId);
  return { moved, write, read: () => collections.executions.findOne({ _id }) };
}

const event = (seq: number, type: string) => ({ seq, type, at: 1, data: {} });

describe('the record of an execution', () => {
  test('does not take a delayed write, even one with more events from a workflow task that was lost', async () => {
    verifies('execution.projection');
    const { write, read } = await prepared();
    await write({ projected_at: 20, last_event_seq: 2, status: 'paused' });
    await write({ projected_at: 10, last_event_seq: 9, status: 'completed' });
    expect(await read()).toMatchObject({ status: 'paused', projected_at: 20, last_event_seq: 2 });
    await write({ projected_at: 30, last_event_seq: 1, status: 'running' });
    expect(await read()).toMatchObject({ status: 'running', projected_at: 30, last_event_seq: 1 });
  });

  test('takes the moves that the API records in their order, and none that the run has written or followed', async () => {
    verifies('execution.projection');
    const { write, read } = await prepared();
    const { _id: execution_id = '' } = (await read()) ?? {};
    const move = (status: 'running' | 'paused', seq: number) => recordMove(deps, { execution_id, status }, seq);
    await move('paused', 2);
    expect(await read()).toMatchObject({ status: 'ready' });
    await write({ projected_at: 10, last_event_seq: 3 });
    await move('running', 5);
    await move('paused', 4);
    expect(await read()).toMatchObject({ status: 'running', projected_at: 10, last_event_seq: 3 });
    await move('paused', 6);
    expect(await read()).toMatchObject({ status: 'paused', projected_at: 10, last_event_seq: 3 });
    await write({ projected_at: 20, last_event_seq: 7 });
    await move('paused', 6);
    expect(await read()).toMatchObject({ status: 'running', last_event_seq: 7 });
    await write({ projected_at: 30, last_event_seq: 8, status: 'completed' });
    await move('paused', 9);
    expect(await read()).toMatchObject({ status: 'completed' });
  });

  test('takes a repeated write', async () => {
    const { write, read, moved } = await prepared();
    await write({ last_event_seq: 3, status: 'paused', projected_at: 5 });
    await write({ last_event_seq: 3, status: 'paused', projected_at: 5 });
    expect(await read()).toMatchObject({ status: 'paused', projected_at: 5 });
    expect(moved).toEqual(['running']);
  });

  test('does not take a late write of a run whose end was recorded', async () => {
    const { write, read } = await prepared();
    await deps.mongo.collections.executions.updateOne(
      { _id: (await read())?._id ?? '' },
      { $set: { ended_run: 'run', status: 'failed' } },
    );
    await write({ projected_at: 50 });
    expect(await read()).toMatchObject({ status: 'failed' });
    await write({ projected_at: 50 }, 'another run');
    expect(await read()).toMatchObject({ status: 'running' });
  });

  test('counts each state that the execution entered once, also if one write covers several', async () => {
    const { write, moved } = await prepared();
    const events = ['started', 'step_started', 'paused', 'resumed', 'completed'].map((type, at) => event(at + 1, type));
    const last = { projected_at: 5, last_event_seq: 5, status: 'completed', events } as const;
    await write({ ...last, projected_at: 4, last_event_seq: 2, status: 'running', events: events.slice(0, 2) });
    await write(last);
    await write(last);
    expect(moved).toEqual(['running', 'paused', 'running', 'completed']);
  });

  test('is charged to the owner that the workflow names', async () => {
    const { write } = await prepared();
    const organization_id = newId();
    await write({ organization_id, project_id: 'p', agentflow_id: 'f' });
    await write({ organization_id, project_id: 'p', agentflow_id: 'f' });
    const found = await deps.mongo.collections.credit_history.find({ organization_id }).toArray();
    expect(found).toMatchObject([{ kind: 'execution', credits: 1, project_id: 'p', agentflow_id: 'f', applied: true }]);
  });
});
