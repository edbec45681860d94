import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { connectorLoadId, connectorLoadType } from '../../../../workflows/connector-load/messages.js';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { principalOf } from '../../../support/governance/approvals.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const server = await useHttpSink();

const schedule = (id: string) => deps.temporal.client.schedule.getHandle(connectorLoadId(id));

async function connectorOf({ api, projectID }: Workspace, data_loader_config: object, fields: object = {}) {
  const answer = await api.post(`/actions/restful/config?projectID=${projectID}`, {
    name: 'Claims register',
    config: { base_url: server.url },
    data_loader_config,
    ...fields,
  });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body._id as string;
}

/** The elements of a type in the graph of a project. */
async function stored({ projectID }: Workspace, type: string): Promise<Record<string, unknown>[]> {
  const { records } = await deps.graph.driver.executeQuery(
    'MATCH (n {project_id: $projectID, type: $type}) RETURN properties(n) AS n ORDER BY n.name',
    { projectID, type },
  );
  return records.map((record) => record.get('n') as Record<string, unknown>);
}

/** All loads of the connector that have ended, with their results. */
async function loadsOf(id: string) {
  const { info } = await schedule(id).describe();
  return Promise.all(
    info.recentActions.map(({ action: { workflow } }) =>
      deps.temporal.client.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId).result(),
    ),
  );
}

describe('the data loader of a connector', () => {
  test.concurrent(
    'loads immediately and then at its interval by a Temporal Schedule, until the connector is deleted',
    async () => {
      verifies('connector.data-loader');
      const workspace = await createWorkspace(deps);
      const where = `/claims-${newId()}`;
      let count = 0;
      server.answer(where, (_, res) => {
        count += 1;
        const claims = [
          { id: 7, name: 'Hail', state: `seen ${count}`, id_card: { at: 1 } },
          { id: 'b', name: 'Flood', type: 'water' },
          { nothing: true },
        ];
        res.setHeader('content-type', 'application/json').end(JSON.stringify({ data: claims }));
      });
      const id = await connectorOf(workspace, {
        frequency: 'interval',
        syncInterval: 10,
        path: where,
        entity_type: 'Claim',
      });
      const { spec, action } = await schedule(id).describe();
      expect([spec.intervals, action.workflowType]).toMatchObject([[{ every: 10_000 }], connectorLoadType]);
      await eventually(async () =>
        expect(await loadsOf(id)).toContainEqual({ outcome: 'loaded', saved: 2, skipped: 1 }),
      );
      await eventually(async () =>
        expect(await stored(workspace, 'Claim')).toMatchObject([
          { name: 'Flood', source_type: 'water', source_id: 'b' },
          { name: 'Hail', source_id: '7', state: expect.stringMatching(/^seen ([2-9]|\d\d+)$/) },
        ]),
      );
      expect(count).toBeGreaterThan(1);
      const [claim] = await stored(workspace, 'Claim');
      expect(claim).toMatchObject({
        _saved_by: 'service:connector-load',
        _source: `connector Claims register (${id})`,
      });
      await eventually(async () =>
        expect(await deps.mongo.collections.lifecycles.findOne({ _id: String(claim?._lifecycle_id) })).toMatchObject({
          tool: 'connector-load',
          status: 'completed',
          project_id: workspace.projectID,
        }),
      );
      expect((await workspace.api.delete(`/connectors/${workspace.projectID}/${id}`)).status).toBe(200);
      await expect(schedule(id).describe()).rejects.toMatchObject({ name: 'ScheduleNotFoundError' });
    },
  );

  test.concurrent('lists its loads newest first, with a service as their caller', async () => {
    verifies('lifecycles.newest-first');
    const workspace = await createWorkspace(deps);
    const where = `/many-${newId()}`;
    server.answer(where, (_, res) => void res.setHeader('content-type', 'application/json').end('[]'));
    const id = await connectorOf(workspace, { frequency: 'daily', path: where });
    const lifecycles = async () =>
      (await workspace.api.get('/v1/lifecycles?tool=connector-load', { authorization: `Bearer ${workspace.apiKey}` }))
        .body.data;
    for (let loads = 1; loads <= 5; loads += 1) {
      await eventually(async () => expect(await lifecycles()).toHaveLength(loads));
      // Temporal names a run by its second.
      const ended = Math.floor(Date.now() / 1000);
      await eventually(() => expect(Math.floor(Date.now() / 1000)).toBeGreaterThan(ended));
      if (loads < 5) await schedule(id).trigger();
    }
    const times = (await lifecycles()).map(({ created_at }: any) => created_at as number);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect((await lifecycles())[0].principal).toEqual({ user_id: 'connector-load', kind: 'service' });
    await workspace.api.delete(`/connectors/${workspace.projectID}/${id}`);
  });

  test.concurrent('does not load for a person who was removed from the project', async () => {
    verifies('connector.former-member');
    const workspace = await createWorkspace(deps);
    const where = `/left-${newId()}`;
    server.answer(where, (_, res) => void res.setHeader('content-type', 'application/json').end('[]'));
    const id = await connectorOf(workspace, { frequency: 'daily', path: where });
    await eventually(() => expect(server.seen(where).length).toBeGreaterThan(0));
    // A known user who no longer has a role on the project.
    const user = {
      _id: workspace.userId,
      email: `${workspace.userId}@example.com`,
      name: 'Gone',
      password_hash: 'x',
      organization_id: workspace.organizationId,
      created_at: 1,
    };
    await deps.mongo.collections.users.insertOne(user);
    await eventually(async () => expect(await loadsOf(id).catch(() => [])).not.toEqual([]));
    const seen = server.seen(where).length;
    await schedule(id).trigger();
    await eventually(async () =>
      expect((await workspace.api.get(`/connectors/${workspace.projectID}/${id}`)).body).toMatchObject({
        status: 'paused',
        status_reason: expect.stringContaining('no longer a member'),
      }),
    );
    await eventually(async () => expect((await schedule(id).describe()).state.paused).toBe(true));
    expect(server.seen(where)).toHaveLength(seen);
  });

  test.concurrent('is refused if a rule requires an approval, because a service cannot wait for one', async () => {
    verifies('operation.no-bypass');
    const workspace = await createWorkspace(deps);
    const when = 'context.channel == "schedule"';
    await deps.governance.policies.replace(principalOf('OWNER', { ...workspace, projectId: workspace.projectID }), [
      { policy_id: 'all', description: '', effect: 'permit' },
      { policy_id: 'special', description: '', effect: 'require_approval', tools: ['connector-load'], when },
    ]);
    const where = `/held-${newId()}`;
    server.answer(where, (_, res) => void res.setHeader('content-type', 'application/json').end('[]'));
    const id = await connectorOf(workspace, { frequency: 'daily', path: where });
    const { lifecycles } = deps.mongo.collections;
    await eventually(async () =>
      expect(
        await lifecycles.find({ project_id: workspace.projectID, tool: 'connector-load' }).toArray(),
      ).toMatchObject([{ status: 'denied', decision: { decision: 'require_approval', policy_ids: ['special'] } }]),
    );
    expect(server.seen(where)).toEqual([]);
    await workspace.api.delete(`/connectors/${workspace.projectID}/${id}`);
  });

  test.concurrent('loads once on request of an action of the project', async () => {
    const workspace = await createWorkspace(deps);
    const where = `/notes-${newId()}`;
    server.answer(
      where,
      (_, res) =>
        void res
          .setHeader('content-type', 'application/json')
          .end('{"notes":[{"key":"k","title":"A note","created_at":1}]}'),
    );
    const action = await workspace.api.post('/action', { name: 'Read notes', method: 'GET', endpoint: where });
    const loader = {
      frequency: 'once',
      action_id: action.body._id,
      records_field: 'notes',
      id_field: 'key',
      name_field: 'title',
    };
    const id = await connectorOf(workspace, loader, { name: '3 Notes!' });
    await eventually(async () => expect(await loadsOf(id)).toEqual([{ outcome: 'loaded', saved: 1, skipped: 0 }]));
    expect(await stored(workspace, 'Notes')).toMatchObject([{ name: 'A note', source_id: 'k' }]);
    expect((await schedule(id).describe()).info.nextActionTimes).toEqual([]);
    await workspace.api.delete(`/connectors/${workspace.projectID}/${id}`);
  });

  test.concurrent('reports a source that refuses, and loads again at the next time', async () => {
    const workspace = await createWorkspace(deps);
    const where = `/refused-${newId()}`;
    server.answer(where, (_, res) => void res.writeHead(403).end());
    const id = await connectorOf(workspace, { frequency: 'daily', path: where });
    const failure = await eventually(async () => {
      const error: any = await loadsOf(id).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error?.cause).toMatchObject({ type: 'action_refused' });
      return error.cause;
    });
    expect(failure.message).toContain('403');
    expect(
      await deps.mongo.collections.lifecycles.findOne({ project_id: workspace.projectID, tool: 'connector-load' }),
    ).toMatchObject({ status: 'failed' });
    server.answer(where, (_, res) => void res.setHeader('content-type', 'application/json').end('[{"name":"one"}]'));
    await schedule(id).trigger();
    await eventually(async () =>
      expect(await stored(workspace, 'Claims register')).toMatchObject([{ name: 'one', source_id: 'one' }]),
    );
    await workspace.api.delete(`/connectors/${workspace.projectID}/${id}`);
  });

  test.concurrent.each([
    ['gone', { is_deleted: true }],
    ['paused', { status: 'paused' as const }],
  ])(
    'corrects the schedule at its next firing if the process that made the connector %s died midway',
    async (outcome, left) => {
      const workspace = await createWorkspace(deps);
      const where = `/half-${newId()}`;
      server.answer(where, (_, res) => void res.setHeader('content-type', 'application/json').end('[]'));
      const id = await connectorOf(workspace, { frequency: 'daily', path: where });
      await eventually(async () => expect(await loadsOf(id)).toHaveLength(1));
      await deps.mongo.collections.connectors.updateOne({ _id: id }, { $set: left });
      await schedule(id).trigger();
      await eventually(async () => {
        if (outcome === 'gone')
          await expect(schedule(id).describe()).rejects.toMatchObject({ name: 'ScheduleNotFoundError' });
        else expect((await schedule(id).describe()).state.paused).toBe(true);
      });
      expect(server.seen(where)).toHaveLength(1);
      if (outcome === 'paused') await workspace.api.delete(`/connectors/${workspace.projectID}/${id}`);
    },
  );
});
