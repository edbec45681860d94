import { describe, expect, test } from '@jest/globals';
import { TypedSearchAttributes } from '@temporalio/common';
import { grantRole } from '../../../src/auth/users.js';
import { indexNext } from '../../../src/graph/language/index-next.js';
import { lockProject } from '../../../src/graph/ontology/state.js';
import { inWriteTransaction } from '../../../src/graph/store/sessions.js';
import { newId } from '../../../src/base/ids.js';
import { bindRepository } from '../../../src/domain/connectors/operations/repositories.js';
import { rowsOf } from '../../../src/domain/tables/record.js';
import {
  catalogSyncType,
  catalogSyncWorkflowId,
  type CatalogSyncInput,
} from '../../../workflows/catalog-sync/messages.js';
import { searchAttributes } from '../../../workflows/search-attributes.js';
import { connectorLoadId } from '../../../workflows/connector-load/messages.js';
import { scheduleId } from '../../../workflows/coworker-run/messages.js';
import {
  projectRemovalType,
  projectRemovalWorkflowId,
  type ProjectRemovalInput,
} from '../../../workflows/project-removal/messages.js';
import { createPerson } from '../../auth/auth-server.js';
import { eventually } from '../../support/eventually.js';
import { moveExecution, prepareExecution, startExecution, untilExecution } from '../../support/executions.js';
import { createPersonalWorkspace, createWorkspace, personOf, useDeps, type Workspace } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { flowThatCalls } from '../../support/flows.js';
import { useOwnApp } from '../../support/own-app.js';
import { createTable } from '../../support/tables.js';
import { file, send } from '../../support/uploads.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { coworker, scheduled } from './schedules/schedules.js';

const deps = useDeps();
const { collections } = deps.mongo;
const sink = await useHttpSink();
const requestsOf = ({ projectID }: Workspace) => sink.seen(`/${projectID}`);
const temporalSchedule = (id: string) => deps.temporal.client.schedule.getHandle(id).describe();
const gone = { name: 'ScheduleNotFoundError' };
const notFound = { status: 404, body: { error: 'not_found' } };

/** An owner with a user token, and another project of the organization with its own key. The sink holds the calls of its agentflows. */
async function ownedProject() {
  const owner = await createPersonalWorkspace(deps);
  const member = await createWorkspace(deps, { organizationId: owner.organizationId });
  const path = `/${member.projectID}`;
  return {
    owner,
    member,
    flow: flowThatCalls([`${sink.url}${path}/one`, `${sink.url}${path}/two`]),
    release: sink.hold(path),
  };
}

async function loadedConnector({ api, projectID }: Workspace): Promise<string> {
  const answer = await api.post(`/actions/restful/config?projectID=${projectID}`, {
    name: 'Register',
    config: { base_url: sink.url },
    data_loader_config: { frequency: 'daily', path: `/${projectID}` },
  });
  expect(answer).toMatchObject({ status: 200, body: { status: 'active' } });
  return answer.body._id as string;
}

/** A schedule over three rows whose run is in its first executions. */
async function runningSchedule(member: Workspace): Promise<string> {
  const { api, projectID } = member;
  const table = await api.post(`/storage/${projectID}/table`, {
    table_name: 'Clients',
    columns: [{ column_name: 'name', column_type: 'string' }],
  });
  expect(
    await api.post(
      `/storage/${projectID}/table/${table.body._id}/row`,
      Array.from({ length: 12 }, () => ({})),
    ),
  ).toMatchObject({ status: 201 });
  const { _id } = await scheduled(member, {
    coworker_id: await coworker(member, [`${sink.url}/${projectID}`]),
    type: 'interval',
    frequency: 86_400,
    table: table.body._id,
  });
  expect(await api.post(`/schedule/coworker/${_id}/trigger`)).toMatchObject({ status: 200 });
  await eventually(async () =>
    expect(await collections.executions.countDocuments({ schedule: _id, status: 'running' })).toBeGreaterThan(0),
  );
  return _id as string;
}

describe('DELETE /v1/project/{project_id}', () => {
  test('ends everything that would keep firing in the project', async () => {
    verifies('platform.projects.delete.ends-work');
    const { owner, member, flow, release } = await ownedProject();
    const { projectID } = member;
    const [schedule, connector] = [await runningSchedule(member), await loadedConnector(member)];
    const { _id: ready } = await prepareExecution(member, flow);
    const [running, paused] = [await startExecution(member, flow), await startExecution(member, flow)];
    await untilExecution(member, running, 'running');
    await untilExecution(member, paused, 'running');
    expect(await moveExecution(member, paused, 'pause')).toMatchObject({ status: 200 });
    const repository = `octo/${newId()}`;
    await bindRepository(collections, deps.auth.box, {
      ...{ repository, branch: null, projectId: projectID, organizationId: owner.organizationId, userId: 'u' },
    });

    expect(await owner.api.delete(`/v1/project/${projectID}`)).toMatchObject({
      status: 200,
      body: { _id: projectID, status: 'deleted' },
    });
    expect(await member.api.get(`/execute_flow/${running}`)).toMatchObject({ status: 401 });
    expect(await deps.temporal.client.workflow.getHandle(projectRemovalWorkflowId(projectID)).result()).toEqual({
      cancelled: expect.any(Number),
    });

    await expect(temporalSchedule(scheduleId(schedule))).rejects.toMatchObject(gone);
    await expect(temporalSchedule(connectorLoadId(connector))).rejects.toMatchObject(gone);
    await eventually(async () =>
      expect(await collections.executions.distinct('status', { projectID })).toEqual(['failed']),
    );
    for (const _id of [ready, running, paused]) {
      const record = await collections.executions.findOne({ _id });
      expect(record?.execution_context.failure).toMatchObject({
        reason: 'cancelled',
        by: owner.userId,
        message: 'the project was deleted',
      });
    }
    await eventually(async () =>
      expect(await collections.schedule_runs.find({ schedule_id: schedule }).toArray()).toMatchObject([
        { status: 'cancelled' },
      ]),
    );
    expect(await collections.repository_bindings.countDocuments({ project_id: projectID })).toBe(0);
    expect(await collections.connectors.findOne({ _id: connector })).toMatchObject({
      is_deleted: true,
      config_sealed: '',
    });
    const before = requestsOf(member).length;
    release();
    await eventually(async () => {
      const open = `ProjectId = '${projectID}' AND ExecutionStatus = 'Running'`;
      expect((await deps.temporal.client.workflow.count(open)).count).toBe(0);
    });
    expect(requestsOf(member)).toHaveLength(before);
  });

  test('ends catalog syncs and uploads in progress', async () => {
    verifies('platform.projects.delete.ends-work');
    const { owner, member, release } = await ownedProject();
    release();
    const { projectID, organizationId } = member;
    const sync: CatalogSyncInput = {
      project_id: projectID,
      organization_id: organizationId,
      quiet_ms: 3_600_000,
      longest_wait_ms: 3_600_000,
      max_history_events: 5000,
    };
    const typedSearchAttributes = new TypedSearchAttributes([{ key: searchAttributes.projectId, value: projectID }]);
    const workflowId = catalogSyncWorkflowId(projectID);
    await deps.temporal.client.workflow.start(catalogSyncType, {
      taskQueue: deps.temporal.taskQueue,
      workflowId,
      args: [sync],
      typedSearchAttributes,
    });
    await eventually(async () =>
      expect(
        (await deps.temporal.client.workflow.count(`ProjectId = '${projectID}' AND WorkflowType = 'catalogSync'`))
          .count,
      ).toBe(1),
    );
    expect(await owner.api.delete(`/v1/project/${projectID}`)).toMatchObject({ status: 200 });
    await eventually(async () =>
      expect((await deps.temporal.client.workflow.getHandle(workflowId).describe()).status.name).toBe('CANCELLED'),
    );
  });

  test('frees the quota of its coworkers, connectors, tables and files, whose content it deletes', async () => {
    verifies('platform.projects.delete.ends-work');
    const { owner, member, release } = await ownedProject();
    release();
    const used = async () => {
      const { usage } = (await owner.api.get(`/customer?organization_id=${owner.organizationId}`)).body;
      return [
        usage.number_of_workspaces,
        usage.number_of_coworkers,
        usage.number_of_connectors,
        usage.number_of_tables,
        usage.storage_space_in_mb,
      ];
    };
    const [workspaces] = await used();
    await coworker(member);
    await loadedConnector(member);
    const { _id: table } = await createTable(member);
    const uploaded = await send(member.api, `/file/${member.projectID}`, [file('notes.txt', 'Ada lives in London')]);
    expect(await used()).toEqual([workspaces, 1, 1, 1, 1]);
    expect(await owner.api.delete(`/v1/project/${member.projectID}`)).toMatchObject({ status: 200 });
    await eventually(async () => expect(await used()).toEqual([workspaces - 1, 0, 0, 0, 0]));
    await deps.temporal.client.workflow.getHandle(projectRemovalWorkflowId(member.projectID)).result();
    expect(await rowsOf(deps.mongo, table).countDocuments()).toBe(0);
    await expect(deps.files.store.read(uploaded.body.data[0].location)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('ends the roles on it, and frees the places of people without another role', async () => {
    verifies('platform.projects.delete.ends-work');
    const { owner, member, release } = await ownedProject();
    release();
    const members = async () =>
      (await owner.api.get(`/customer?organization_id=${owner.organizationId}`)).body.usage.number_of_members;
    const before = await members();
    const [leaves, stays] = await Promise.all(
      ['VIEWER', 'MEMBER'].map((role) => createPerson(deps, { workspace: member, role })),
    );
    const { organizationId, projectID: projectId } = owner;
    await grantRole(collections, { userId: stays?.userId ?? '', organizationId, projectId, role: 'VIEWER' });
    expect(await members()).toBe(before + 2);
    expect(await owner.api.delete(`/v1/project/${member.projectID}`)).toMatchObject({ status: 200 });
    await eventually(async () => expect(await members()).toBe(before + 1));
    expect(await collections.memberships.countDocuments({ user_id: leaves?.userId ?? '' })).toBe(0);
    expect(await collections.memberships.countDocuments({ user_id: stays?.userId ?? '' })).toBe(1);
  });

  test('removes its context graph, vectors, personal values, remembered texts and exchanges of steps, and nothing of another project', async () => {
    verifies('embeddings.project-deleted');
    const { owner, member, release } = await ownedProject();
    release();
    const other = await createWorkspace(deps, { organizationId: owner.organizationId });
    const graphs = [member, other].map(({ apiKey, projectID }) => ({ projectID, gateway: bearerClient(apiKey) }));
    const definition = {
      entity_types: { Person: { properties: { mail: { type: 'string', personal: true }, city: { type: 'string' } } } },
      relationship_types: { KNOWS: { from: ['Person'], to: ['Person'] } },
    };
    for (const { gateway, projectID } of graphs) {
      await gateway.post('/v1/ontology', { define: definition });
      expect(await gateway.post('/v1/ontology', { commit: true })).toMatchObject({ status: 200 });
      const entities = Array.from({ length: 600 }, (_, at) => ({
        id: `p${at}`,
        type: 'Person',
        name: `Person ${at}`,
        properties: { mail: `p${at}@acme.example` },
      }));
      const facts = entities.map(({ id }) => ({ subject: id, predicate: 'city', object: 'Berlin' }));
      const relationships = [{ from: 'p0', type: 'KNOWS', to: 'p1' }];
      const saved = await gateway.post('/v1/save-context', { entities, facts, relationships });
      expect([saved.status, saved.body.message]).toEqual([200, undefined]);
      await deps.graph.driver.executeQuery(
        `CREATE (:_Vector {project: $projectID, element: $projectID}), (:_UnembeddedLink {project: $projectID, key: $projectID}),
           (:SavedPart {key: $part}), (:EntityMerge {key: $projectID + '/m/e'})`,
        { projectID, part: JSON.stringify([projectID, 'm', 0]) },
      );
      await collections.memories.insertOne({ _id: projectID, project_id: projectID } as never);
      await collections.memory_parts.insertOne({ _id: projectID, memory_id: projectID } as never);
      await collections.executions.insertOne({ _id: `run-${projectID}`, projectID, status: 'completed' } as never);
      await collections.execution_exchanges.insertOne({ _id: `run-${projectID}/agent_1/turn-1#1` } as never);
    }
    const left = async ({ projectID }: { projectID: string }) => {
      const found = await deps.graph.driver.executeQuery(
        `MATCH (n) WHERE n.project_id = $projectID OR n.project = $projectID OR n.key CONTAINS $projectID
         RETURN labels(n) AS labels`,
        { projectID },
      );
      const records = await Promise.all([
        collections.memories.countDocuments({ project_id: projectID }),
        collections.memory_parts.countDocuments({ memory_id: projectID }),
        collections.execution_exchanges.countDocuments({ _id: `run-${projectID}/agent_1/turn-1#1` }),
      ]);
      return { nodes: found.records.map((record) => (record.get('labels') as string[]).join()), records };
    };
    const before = await left(other);
    expect(before.nodes.length).toBeGreaterThan(1800);
    expect(await owner.api.delete(`/v1/project/${member.projectID}`)).toMatchObject({ status: 200 });
    await deps.temporal.client.workflow.getHandle(projectRemovalWorkflowId(member.projectID)).result();
    expect(await left(member)).toEqual({ nodes: ['ProjectState'], records: [0, 0, 0] });
    expect(await left(other)).toEqual(before);
    const late = inWriteTransaction(deps.graph, member.projectID, (tx) => lockProject(tx, member.projectID));
    await expect(late).rejects.toMatchObject({ code: 'not_found' });
    expect(await indexNext(deps.graph, member.projectID)).toBe(true);
  });

  test('is completed by its workflow if the API dies after starting it', async () => {
    verifies('platform.projects.delete.ends-work');
    const { owner, member, flow, release } = await ownedProject();
    const id = await startExecution(member, flow);
    const input: ProjectRemovalInput = {
      project_id: member.projectID,
      organization_id: owner.organizationId,
      deleted_by: owner.userId,
    };
    const options = {
      taskQueue: deps.temporal.taskQueue,
      workflowId: projectRemovalWorkflowId(member.projectID),
      args: [input] as [ProjectRemovalInput],
    };
    expect(await deps.temporal.client.workflow.execute(projectRemovalType, options)).toEqual({ cancelled: 1 });
    expect(await owner.api.get(`/v1/project/${member.projectID}`)).toMatchObject(notFound);
    expect(await member.api.get(`/execute_flow/${id}`)).toMatchObject({ status: 401 });
    await eventually(async () =>
      expect(await collections.executions.findOne({ _id: id })).toMatchObject({ status: 'failed' }),
    );
    release();
  });

  const apart = useOwnApp({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
  test('answers 503 while Temporal does not answer, and changes nothing', async () => {
    verifies('platform.projects.delete.ends-work');
    const { owner, member } = await ownedProject();
    const through = await personOf(deps, owner, { url: apart.url() });
    expect(await through.delete(`/v1/project/${member.projectID}`)).toMatchObject({
      status: 503,
      body: { error: 'unavailable' },
    });
    expect(await member.api.get(`/v1/project/${member.projectID}`)).toMatchObject({
      status: 200,
      body: { status: 'active' },
    });
  });
});
