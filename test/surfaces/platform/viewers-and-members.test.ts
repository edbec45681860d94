import { beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import type { Route } from '../../../src/surfaces/rest/define-route.js';
import { gatewayRoutes } from '../../../src/surfaces/gateway/gateway-routes.js';
import { platformRoutes } from '../../../src/surfaces/platform/resources.js';
import type { ApiClient } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { prepareExecution, untilExecution } from '../../support/executions.js';
import { createWorkspace, personOf, userTokenOf, useDeps, type Workspace } from '../../support/fixture.js';
import { agentThatCalls, flowThatCalls } from '../../support/flows.js';
import { storeRule } from '../../support/governance/approvals.js';
import { refusal } from '../../support/refusal.js';
import { kindByName, kindByPath, plainParams, seeders, type Owner } from '../../support/tenancy-ids.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const routes = [...platformRoutes, ...gatewayRoutes(deps, () => 'http://localhost')].filter(
  ({ operation }) => operation !== undefined,
);
const named = ({ method, path }: Route) => `${method.toUpperCase()} ${path}`;

function ownerOf(workspace: Workspace): Owner {
  const ids = new Map<string, Promise<string>>();
  const made: Owner = {
    workspace,
    idOf(kind) {
      const id = ids.get(kind) ?? seeders[kind]?.(made) ?? Promise.resolve(newId());
      ids.set(kind, id);
      return id;
    },
  };
  return made;
}

async function addressFor({ path }: Route, owner: Owner): Promise<string> {
  let filled = path;
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    const byPath = Object.entries(kindByPath).find(([prefix]) => path.startsWith(prefix))?.[1];
    const kind = name === 'id' ? byPath : kindByName[name];
    filled = filled.replace(`{${name}}`, plainParams[name] ?? (await owner.idOf(kind ?? '')));
  }
  return filled;
}

/** Reads that differ between people by their nature, each with the reason. */
const personal: Record<string, string> = {
  'GET /v1/apikeys': 'keys are secrets of the project: an administrator manages them',
  'GET /v1/connected-apps': 'each person sees their own apps',
  'GET /v1/project': 'an administrator of the organization sees all its projects',
  'GET /v1/project/all': 'an administrator of the organization sees all its projects',
  'GET /credit/history': 'an administrator of the organization sees the charges of all its projects',
  'GET /v1/audit': 'each call adds an entry',
  'GET /v1/audit/export': 'each call adds an entry',
  'GET /v1/audit/verify': 'each call adds an entry',
  'GET /v1/quota': 'each call counts',
};

describe('a VIEWER', () => {
  let owner: Owner;
  let admin: ApiClient;
  let viewer: ApiClient;

  beforeAll(async () => {
    const workspace = await createWorkspace(deps);
    owner = ownerOf(workspace);
    await storeRule(deps, workspace, 'require_approval', 'tag.create');
    await Promise.all([...Object.keys(seeders)].filter((kind) => kind !== 'tag').map((kind) => owner.idOf(kind)));
    expect(await workspace.api.post(`/tag?projectID=${workspace.projectID}`, { name: 'held' })).toMatchObject({
      status: 202,
    });
    [admin, viewer] = await Promise.all([
      personOf(deps, workspace, { role: 'PROJECT_ADMIN', userId: newId() }),
      personOf(deps, workspace, { role: 'VIEWER', userId: newId() }),
    ]);
  });

  const reads = routes.filter(
    (route) => route.method === 'get' && route.response.stream !== 'text/event-stream' && !(named(route) in personal),
  );

  test.each(reads.map((route) => [named(route), route] as const))(
    '%s: sees what an administrator sees',
    async (_, route) => {
      verifies('roles.viewer');
      const shape =
        (route.query as { shape?: Record<string, { safeParse(v: unknown): { success: boolean } }> } | undefined)
          ?.shape ?? {};
      const missing = Object.entries(shape).filter(([, schema]) => !schema.safeParse(undefined).success);
      const query = await Promise.all(
        missing.map(async ([name]) => [name, plainParams[name] ?? (await owner.idOf(kindByName[name] ?? ''))] as const),
      );
      const path = `${await addressFor(route, owner)}?${new URLSearchParams(Object.fromEntries(query)).toString()}`;
      const [seen, sees] = [await admin.get(path), await viewer.get(path)];
      expect([named(route), sees.status]).toEqual([named(route), seen.status]);
      expect(sees.status).not.toBe(403);
      // What the caller may decide, addresses that expire, and periods that end now differ.
      const shown = (body: unknown) =>
        JSON.stringify(body, (name, value: unknown) =>
          ['may_decide', 'may_not_decide_reason', 'url', 'from', 'to'].includes(name) ? undefined : value,
        );
      expect(shown(sees.body)).toBe(shown(seen.body));
    },
  );

  test('sees the approval that waits, with the whole call, and may not decide it', async () => {
    verifies('roles.viewer');
    const { body } = await viewer.get('/v1/approvals');
    expect(body.data).toMatchObject([{ tool: 'tag.create', status: 'pending', may_decide: false }]);
    const id = body.data[0].approval_id;
    expect((await viewer.get(`/v1/approvals/${id}`)).body).toMatchObject({
      may_see_payload: true,
      payload: { input: { name: 'held' } },
    });
    expect(await viewer.post(`/v1/approvals/${id}/approve`, {})).toMatchObject({ status: 403 });
    expect((await viewer.get('/inbox')).body.data).toMatchObject([{ kind: 'approval', may_decide: false }]);
  });

  test('reads no secret', async () => {
    verifies('roles.viewer');
    const id = await owner.idOf('connector');
    const { body } = await viewer.get(`/connectors/${owner.workspace.projectID}/${id}`);
    expect(body._id).toBe(id);
    expect(JSON.stringify(body)).not.toContain('"secret"');
    for (const path of [`/v1/apikeys?project_id=${owner.workspace.projectID}`, '/v1/connected-apps?everyone=true'])
      expect(await viewer.get(path)).toMatchObject({ status: 403 });
  });
});

describe('a MEMBER', () => {
  const flow = { name: 'Asks first', agents: [{ ...agentThatCalls([]), is_preview_mode_enabled: true }] };

  async function twoMembers() {
    const workspace = await createWorkspace(deps);
    const member = async () => {
      const userId = newId();
      return { ...workspace, userId, api: await personOf(deps, workspace, { role: 'MEMBER', userId }) };
    };
    const agentflow = await workspace.api.post(`/agentflow?projectID=${workspace.projectID}`, flow);
    expect(agentflow).toMatchObject({ status: 201 });
    const start = async ({ api }: { api: ApiClient }): Promise<string> => {
      const body = { agentflow_id: agentflow.body._id, goal: 'mine' };
      const created = await api.post(`/execute_flow?projectID=${workspace.projectID}`, body);
      expect(created).toMatchObject({ status: 201 });
      expect(await api.post(`/execute_flow/${created.body.execution_id}/execute`, {})).toMatchObject({ status: 200 });
      return created.body.execution_id as string;
    };
    return { workspace, start, one: await member(), other: await member() };
  }

  test('starts a run of an agentflow of the project, follows it, and steers it', async () => {
    verifies('roles.member');
    const { one, start, workspace } = await twoMembers();
    expect((await one.api.get('/agentflow')).body.data).toHaveLength(1);
    const id = await start(one);
    await untilExecution(one, id, { execution_context: { waiting_for: { kind: 'preview' } } });
    await eventually(async () =>
      expect((await one.api.get('/inbox')).body.data).toMatchObject([
        { kind: 'approval', execution_id: id, may_decide: false },
      ]),
    );
    const list = await one.api.get(`/${workspace.projectID}/execution_flows`);
    expect(list.body.data.map(({ execution_id }: { execution_id: string }) => execution_id)).toEqual([id]);
    const preview = (await one.api.get(`/execute_flow/${id}`)).body.execution_context.waiting_for;
    expect(
      await one.api.post(`/execute_flow/${id}/preview`, {
        agent_id: preview.agent_id,
        preview_id: preview.preview_id,
        decision: 'approve',
      }),
    ).toMatchObject(refusal(403, 'access_denied', 'APPROVER'));
    expect(await one.api.post(`/execute_flow/${id}/cancel`, {})).toMatchObject({ status: 200 });
  });

  test("neither sees nor steers another member's run, on any route", async () => {
    verifies('roles.member');
    const { workspace, one, other, start } = await twoMembers();
    const id = await start(one);
    const run = await untilExecution(one, id, { execution_context: { waiting_for: { kind: 'preview' } } });
    // The inbox follows the run a moment later.
    const item = await eventually(async () => {
      const { data } = (await workspace.api.get('/inbox')).body;
      expect(data).toHaveLength(1);
      return data[0];
    });
    const values: Record<string, string> = {
      projectID: workspace.projectID,
      execution_id: id,
      number: '1',
      id: run.task_id,
    };
    const about = routes.filter(({ path }) => /\{execution_id\}|^\/task\//.test(path));
    expect(about.length).toBeGreaterThan(12);
    for (const route of about) {
      const query = route.path.endsWith('/evaluate') ? '?expression=1' : '';
      const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '') + query;
      const answer = await other.api[route.method](path, {});
      // Some bodies are invalid; then the answer tells nothing about the run either.
      expect([named(route), [400, 403, 404].includes(answer.status)]).toEqual([named(route), true]);
      const own = route.method === 'get' && (await other.api.get(path)).status;
      if (route.method === 'get') expect([named(route), own]).toEqual([named(route), 404]);
    }
    for (const name of ['pause', 'resume', 'cancel', 'execute'])
      expect(await other.api.post(`/execute_flow/${id}/${name}`, {})).toMatchObject({ status: 404 });
    expect(await other.api.post(`/execute_flow/${id}/rerun`, {})).toMatchObject({ status: 404 });
    for (const path of [
      `/${workspace.projectID}/execution_flows`,
      '/task',
      '/inbox',
      '/v1/approvals',
      '/v1/lifecycles',
    ])
      for (const query of ['', `?executed_by=${one.userId}`]) {
        if (query !== '' && !path.endsWith('execution_flows') && path !== '/task') continue;
        const { status, body } = await other.api.get(path + query);
        expect([path, status, JSON.stringify(body).includes(id)]).toEqual([path, 200, false]);
      }
    expect(await other.api.get(`/inbox`)).toMatchObject({ body: { data: [], total_count: 0 } });
    expect(await other.api.post(`/inbox/${item._id}/read`, {})).toMatchObject({ status: 404 });
    expect(await other.api.post(`/inbox/${item._id}/reply`, { decision: 'approve' })).toMatchObject({ status: 404 });
    expect((await other.api.get(`/v1/approvals/${item.approval_id}`)).status).toBe(404);
    for (const operation of ['get', 'pause', 'cancel'])
      expect(await other.api.post('/v1/orchestrate', { operation, execution_id: id })).toMatchObject({ status: 404 });
    expect((await other.api.post('/v1/orchestrate', { operation: 'list' })).body.executions).toEqual([]);
    const created = await other.api.post('/execute_flow', {
      agentflow_id: run.agentflow_id,
      goal: 'child',
      parent_execution_id: id,
    });
    expect(created).toMatchObject({ status: 404 });
    expect(await workspace.api.get(`/execute_flow/${id}`)).toMatchObject({ body: { status: 'running' } });
  });

  test('sees every run once VIEWER is added, and hears only of its own runs before', async () => {
    verifies('roles.member', 'roles.union');
    const { workspace, one, other, start } = await twoMembers();
    const both = await personOf(deps, workspace, { roles: ['MEMBER', 'VIEWER'], userId: other.userId });
    const abort = new AbortController();
    const heard: string[] = [];
    const stream = await fetch(`${workspace.api.url}/${workspace.projectID}/events`, {
      headers: {
        authorization: `Bearer ${await userTokenOf(deps, workspace, { role: 'MEMBER', userId: other.userId })}`,
      },
      signal: abort.signal,
    });
    expect(stream.status).toBe(200);
    void (async () => {
      for await (const part of stream.body ?? []) heard.push(Buffer.from(part as Uint8Array).toString());
    })().catch(() => undefined);
    const theirs = await start(one);
    await untilExecution(one, theirs, { execution_context: { waiting_for: { kind: 'preview' } } });
    const own = await start(other);
    await eventually(() => expect(heard.join('')).toContain(own));
    expect(heard.join('')).not.toContain(theirs);
    abort.abort();
    expect(await both.get(`/execute_flow/${theirs}`)).toMatchObject({ status: 200 });
    expect((await both.get(`/${workspace.projectID}/execution_flows`)).body.total_count).toBe(2);
  });
});

test('an EDITOR and an APPROVER see every run', async () => {
  verifies('roles.editor-and-approver');
  const workspace = await createWorkspace(deps);
  const { execution_id } = await prepareExecution(workspace, flowThatCalls([]));
  for (const role of ['EDITOR', 'APPROVER', 'VIEWER'])
    expect(
      await (await personOf(deps, workspace, { role, userId: newId() })).get(`/execute_flow/${execution_id}`),
    ).toMatchObject({ status: 200 });
});
