import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { epochSeconds } from '../../../../src/base/time.js';
import type { CoworkerRunInput } from '../../../../workflows/coworker-run/messages.js';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { createTable, type TestTable } from '../../../support/tables.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, fired, runsOf, scheduled } from './schedules.js';

const deps = useDeps();
const temporalOf = (id: string) => deps.temporal.client.schedule.getHandle(`schedule/${id}`);

interface Clients {
  workspace: Workspace;
  table: TestTable;
  /** The id of its column "Company name". */
  column: string;
}

/** A table of clients with this number of rows. */
async function clients(rows: number): Promise<Clients> {
  const workspace = await createWorkspace(deps);
  const table = await createTable(workspace, [{ column_name: 'Company name', column_type: 'string' }]);
  const column = table.columns.find(({ column_name }: any) => column_name === 'Company name').column_id as string;
  expect(await table.insert(Array.from({ length: rows }, (_, at) => ({ [column]: `client ${at + 1}` })))).toMatchObject(
    { status: 201 },
  );
  return { workspace, table, column };
}

async function scheduledOn({ workspace, table }: Clients, goal: string): Promise<string> {
  const { _id } = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    goal,
    type: 'interval',
    frequency: 86_400,
    table: table._id,
  });
  return _id as string;
}

async function trigger({ api }: Workspace, id: string): Promise<void> {
  expect(await api.post(`/schedule/coworker/${id}/trigger`, {})).toMatchObject({ status: 200 });
}

const goalsOf = async ({ projectID }: Workspace) =>
  (await deps.mongo.collections.executions.find({ projectID }).toArray()).map(({ goal }) => goal);

async function untilEnded(id: string) {
  return eventually(async () => {
    const [run] = await deps.mongo.collections.schedule_runs.find({ schedule_id: id }).toArray();
    expect(run).toMatchObject({ ended_at: expect.any(Number) });
    return run;
  });
}

describe('a schedule with a table', () => {
  test('runs once for each row, and only a row whose goal cannot be rendered fails', async () => {
    verifies('schedule.table');
    const all = await clients(7);
    const { workspace, column } = all;
    const id = await scheduledOn(
      all,
      `Call {{ row.${column} }}, that is {{ row["Company name"] }}{% if row.row_id == 3 %}{{ row.nothing }}{% endif %}`,
    );
    await trigger(workspace, id);
    const ended = await untilEnded(id);
    const executions = await deps.mongo.collections.executions.find({ projectID: workspace.projectID }).toArray();
    const expected = [1, 2, 4, 5, 6, 7].map((at) => `Call client ${at}, that is client ${at}`);
    expect(executions.map(({ goal }) => goal).sort()).toEqual(expected);
    expect(new Set(executions.map(({ task_id }) => task_id)).size).toBe(6);
    const [run] = fired(await runsOf(workspace, id));
    expect(run).toMatchObject({
      ended_at: ended?.ended_at,
      status: 'failed',
      error: expect.stringContaining('1 of 7'),
    });
    expect(run.executions.filter(({ execution_id }: any) => execution_id === null)).toMatchObject([
      { status: 'failed', error: expect.stringContaining('nothing') },
    ]);
    const record = await eventually(async () => {
      const { body } = await workspace.api.get(`/schedule/coworker/${id}`);
      expect(body.count).toBe(1);
      return body;
    });
    expect(executions.map(({ _id }) => _id)).toContain(record.last_coworker_execution_id);
  });

  test('treats a column that is newer than the row as empty, by either of its names', async () => {
    const all = await clients(1);
    const { workspace, table } = all;
    expect(
      await workspace.api.post(`${table.path}/column`, { column_name: 'Note', column_type: 'string' }),
    ).toMatchObject({ status: 201 });
    const id = await scheduledOn(all, 'Call {{ row["Company name"] }}[{{ row.note }}{{ row["Note"] }}]');
    await trigger(workspace, id);
    expect(await untilEnded(id)).toMatchObject({ status: 'completed' });
    expect(await goalsOf(workspace)).toEqual(['Call client 1[]']);
  });

  test('includes rows of a process that died during their insert', async () => {
    const all = await clients(1);
    const { workspace, table, column } = all;
    const left = {
      kind: 'insert' as const,
      at: epochSeconds() - 60,
      rows: [{ _id: newId(), row_id: 2, coworker_user_id: workspace.userId, [column]: 'client 2' }],
    };
    const noted = { $set: { 'pending.dead': left }, $inc: { last_row_id: 1, row_count: 1, intents: 1 } };
    await deps.mongo.collections.tables.updateOne({ _id: table._id }, noted);
    const id = await scheduledOn(all, `Call {{ row.${column} }}`);
    await trigger(workspace, id);
    expect(await untilEnded(id)).toMatchObject({ status: 'completed' });
    expect((await goalsOf(workspace)).sort()).toEqual(['Call client 1', 'Call client 2']);
  });
});

describe('a run over enough rows to continue as new', () => {
  /** Five rows fill the history that this run is allowed. */
  async function withTinyHistory(all: Clients, goal: string): Promise<string> {
    const id = await scheduledOn(all, goal);
    await temporalOf(id).update(({ action, ...schedule }) => {
      if (action.type !== 'startWorkflow') throw new Error('a schedule starts a workflow');
      // The message that a schedule starts with wraps the input of the workflow.
      const [message] = action.args as [{ args: [CoworkerRunInput] }];
      const [input] = message.args;
      const args = [{ ...message, args: [{ ...input, max_history_events: 20 }] }];
      return { ...schedule, action: { ...action, args } };
    });
    return id;
  }

  async function chainOf(workflowId: string): Promise<string[]> {
    const statuses: string[] = [];
    for await (const { status } of deps.temporal.client.workflow.list({ query: `WorkflowId = '${workflowId}'` }))
      statuses.push(status.name);
    return statuses;
  }

  test('processes each row once, counts as one run, and reports every failed row', async () => {
    verifies('schedule.table');
    const all = await clients(12);
    const { workspace, column } = all;
    const id = await withTinyHistory(
      all,
      `Call {{ row.${column} }}{% if row.row_id == 2 %}{{ row.nothing }}{% endif %}`,
    );
    await temporalOf(id).trigger();
    const run = await untilEnded(id);
    expect(run).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('1 of 12'),
      executions: { length: 12 },
    });
    const expected = [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((at) => `Call client ${at}`);
    expect((await goalsOf(workspace)).sort()).toEqual(expected.sort());
    expect(await deps.mongo.collections.schedule_runs.countDocuments({ schedule_id: id })).toBe(1);
    await eventually(async () =>
      expect((await workspace.api.get(`/schedule/coworker/${id}`)).body).toMatchObject({ count: 1, status: 'active' }),
    );
    await eventually(async () =>
      expect((await chainOf(run?._id ?? '')).sort()).toEqual([
        'CONTINUED_AS_NEW',
        'CONTINUED_AS_NEW',
        'CONTINUED_AS_NEW',
        'FAILED',
      ]),
    );
  });

  test('continues when its schedule is deleted', async () => {
    const all = await clients(12);
    const { workspace, column } = all;
    const id = await withTinyHistory(all, `Call {{ row.${column} }}`);
    await temporalOf(id).trigger();
    await eventually(async () => expect((await goalsOf(workspace)).length).toBeGreaterThan(0));
    expect(await workspace.api.delete(`/schedule/coworker/${id}`)).toMatchObject({ status: 200 });
    expect(await untilEnded(id)).toMatchObject({ status: 'completed', executions: { length: 12 } });
    expect(await goalsOf(workspace)).toHaveLength(12);
  });
});
