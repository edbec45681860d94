import { expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { createTable } from '../../../support/tables.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';
import { create, edit, point, publish } from '../releases/releases.js';

const deps = useDeps();
const sink = await useHttpSink();

const columns = [
  { column_name: 'Name', column_type: 'string' },
  { column_name: 'Price', column_type: 'number' },
];

/** Each row calls the sink if `calls` is true, and returns its name. */
const overRows = ({ projectID }: Pick<Workspace, 'projectID'>, items: object | string, calls = 'false') => ({
  name: 'Rows',
  initialAgent: 'each',
  steps: [
    { _id: 'each', type: 'map', items, as: 'row', first: 'which', concurrency: 2, next: 'sum' },
    { _id: 'which', type: 'branch', cases: [{ name: 'calls', when: calls, next: 'call' }], otherwise: 'name' },
    {
      ...{ _id: 'call', type: 'action', next: 'name', inputs: {} },
      action: { name: 'Call', method: 'POST', endpoint: `${sink.url}/${projectID}/{{ row.row_id }}` },
    },
    { _id: 'name', type: 'set', values: { name: 'row.name', at: 'index' } },
    { _id: 'sum', type: 'set', values: { all: 'outputs.each.map(one, one.name)' } },
  ],
});

test('the rows that match a filter are the items, in their order and as they are when the step begins', async () => {
  verifies('flow.table-items');
  const workspace = await createWorkspace(deps);
  const table = await createTable(workspace, columns);
  const rows = Array.from({ length: 500 }, (_one, at) => ({ name: `row ${at}`, price: at }));
  expect(await table.insert(rows)).toMatchObject({ status: 201 });
  const few = { table_id: table._id, filter: { price: { lt: 5 } }, sort: '-price', limit: 3 };
  const small = await startExecution(workspace, overRows(workspace, few));
  const many = { table_id: table._id, filter: { price: { gte: 50 } }, sort: 'price' };
  const release = sink.hold(`/${workspace.projectID}/`);
  const large = await startExecution(workspace, overRows(workspace, many, 'index == 0'));
  await eventually(() => expect(sink.seen(`/${workspace.projectID}/`)).toHaveLength(1));
  // Later changes of the table do not matter.
  const { data } = await table.records({ filter: '{"price": 499}' });
  expect(await workspace.api.delete(`${table.path}/records/${data[0]._id}`)).toMatchObject({ status: 200 });
  expect(await table.insert({ name: 'late', price: 1000 })).toMatchObject({ status: 201 });
  release();
  expect((await untilExecution(workspace, small, 'completed')).conclusion.output.all).toEqual([
    'row 4',
    'row 3',
    'row 2',
  ]);
  expect((await untilExecution(workspace, large, 'completed')).conclusion.output.all).toEqual(
    rows.slice(50).map(({ name }) => name),
  );
  const item = await workspace.api.get(`/execute_flow/${large}/evaluate?at=each/449/name&expression=row.name`);
  expect(item).toMatchObject({ status: 200, body: { value: 'row 499' } });
  const again = await workspace.api.post(`/execute_flow/${small}/rerun`, { from_agent_id: 'each/1/name' });
  await workspace.api.post(`/execute_flow/${again.body._id}/execute`, {});
  expect((await untilExecution(workspace, again.body._id, 'completed')).conclusion.output.all).toEqual([
    'row 4',
    'row 3',
    'row 2',
  ]);
});

test('a query that does not fit a table of the project is refused with all problems', async () => {
  verifies('flow.table-items');
  const [workspace, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
  const [own, foreign] = await Promise.all([createTable(workspace, columns), createTable(stranger, columns)]);
  const wrong = { table_id: own._id, filter: { price: 'high', stage: 'new', $where: '1' }, sort: 'size' };
  const answer = await workspace.api.post(`/agentflow?projectID=${workspace.projectID}`, overRows(workspace, wrong));
  expect(answer).toMatchObject(refusal(422, 'validation_failed', 'steps.each.items.filter.price'));
  for (const part of ['steps.each.items.filter.stage', 'steps.each.items.filter.$where', 'steps.each.items.sort'])
    expect(answer.body.error_description).toContain(part);
  expect(
    await workspace.api.post(
      `/agentflow?projectID=${workspace.projectID}`,
      overRows(workspace, { table_id: foreign._id }),
    ),
  ).toMatchObject(refusal(422, 'validation_failed', 'steps.each.items.table_id'));
});

test('the table is a slot of a release, for which a channel can name another table with the same columns', async () => {
  verifies('flow.table-items', 'release.slots');
  const workspace = await createWorkspace(deps);
  const { api } = workspace;
  const [own, other, unlike] = await Promise.all([
    createTable(workspace, columns, 'Leads'),
    createTable(workspace, columns, 'Live leads'),
    createTable(workspace, [], 'Empty'),
  ]);
  await other.insert({ name: 'live', price: 1 });
  const query = { table_id: own._id, filter: { price: { lt: 5 } } };
  const id = await create(workspace, overRows(workspace, '[]'));
  await publish(workspace, id);
  await edit(workspace, id, { steps: overRows(workspace, query).steps });
  const { slots } = await publish(workspace, id);
  const slot = { name: 'leads', category: 'restful', connector_id: own.connector_id, table_id: own._id };
  expect(slots).toEqual([slot]);
  const { body: difference } = await api.get(`/agentflow/${id}/diff?from=1&to=2`);
  expect(JSON.stringify(difference)).toContain('reads the rows of the table in the slot leads');
  expect(JSON.stringify(difference)).not.toContain(own._id);
  const at = (leads: string) => point(workspace, id, 'production', { version: 2, expected: null, slots: { leads } });
  expect(await at(unlike.connector_id)).toMatchObject(
    refusal(422, 'validation_failed', 'steps.each.items.filter.price'),
  );
  expect(await at(other.connector_id)).toMatchObject({ status: 200 });
  const { body } = await api.post('/execute_flow', { agentflow_id: id, goal: 'go' });
  await api.post(`/execute_flow/${body.execution_id}/execute`, {});
  expect((await untilExecution(workspace, body.execution_id, 'completed')).conclusion.output.all).toEqual(['live']);
});
