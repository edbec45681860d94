import { expect } from '@jest/globals';
import type { Deps } from '../../src/domain/deps.js';
import { newId } from '../../src/base/ids.js';
import { epochSeconds } from '../../src/base/time.js';
import { createPerson } from '../auth/auth-server.js';
import { coworker, scheduled, soon } from '../surfaces/platform/schedules/schedules.js';
import type { ApiClient } from './client.js';
import { eventually } from './eventually.js';
import { moveExecution, prepareExecution, startExecution, untilListed } from './executions.js';
import { personOf, type Workspace } from './fixture.js';
import { agentThatCalls, flowThatCalls } from './flows.js';
import { connectServer } from './mcp-agents.js';
import { createTable } from './tables.js';
import { file, send } from './uploads.js';

/** A person in their own organization with every role that a list requires. */
export interface World {
  deps: Deps;
  workspace: Workspace;
  api: ApiClient;
  userId: string;
  projectID: string;
}

export interface ListCase {
  /**
   * Creates the next element after the earlier ones, and returns its key; several keys, oldest first, if one call
   * creates several.
   */
  make(): Promise<string | string[]>;
  keyOf(item: any): string;
  /** The values of the route's path parameters and its query. */
  params?: Record<string, string>;
  query?: Record<string, string>;
  /** The initial content of the list, oldest first. */
  before?: string[];
  /** The field of the page with the elements. */
  field?: string;
  /** The list also contains elements of other organizations. */
  isShared?: boolean;
}

/** Lists without pages, each with the reason. */
export const unpaged: Record<string, string> = {
  '/v1/memories/{memory_id}/review': 'the parts of one record, in the order in which a person checks them',
  '/actions/triggers': 'a fixed list of what there is, on one page',
  '/project-member/{projectID}/summary': 'a count; GET /project-member/{projectID} is the list',
};

export async function createWorld(deps: Deps, url?: string): Promise<World> {
  const { workspace, userId } = await createPerson(deps);
  const api = await personOf(deps, workspace, { userId, ...(url !== undefined && { url }) });
  return { deps, workspace: { ...workspace, api, userId }, api, userId, projectID: workspace.projectID };
}

/** The address of a list's page; its cursor can be appended. */
export function addressOf(route: string, { projectID }: World, { params, query }: ListCase, limit: number): string {
  const values: Record<string, string> = { projectID, ...params };
  const path = route.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
  return `${path}?${new URLSearchParams({ limit: String(limit), ...query }).toString()}`;
}

async function post({ api, projectID }: World, path: string, body: object, query = `?projectID=${projectID}`) {
  const answer = await api.post(`${path}${query}`, body);
  expect([path, answer.status, answer.body]).toEqual([path, expect.any(Number), expect.any(Object)]);
  expect([200, 201]).toContain(answer.status);
  return answer.body;
}

/** A list whose elements a POST of the platform creates, identified by `_id`. */
const posted =
  (path: string, body: () => object) =>
  async (world: World): Promise<ListCase> => ({
    make: async () => (await post(world, path, body()))._id,
    keyOf: ({ _id }) => _id,
  });

async function governedCall(world: World): Promise<string> {
  return (await post(world, '/v1/docs', { topic: 'governance' }, '')).lifecycle_id;
}

async function holdTags({ api }: World): Promise<void> {
  const policies = [
    { policy_id: 'all', effect: 'permit' },
    { policy_id: 'ask', effect: 'require_approval', tools: ['tag.create'] },
  ];
  expect(await api.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
}

async function heldCall({ api, projectID }: World): Promise<string> {
  const held = await api.post(`/tag?projectID=${projectID}`, { name: newId() });
  expect(held).toMatchObject({ status: 202, body: { approval_id: expect.any(String) } });
  return held.body.approval_id;
}

/** Runs of a schedule for planned times in the past, so that ids derived from planned times would be out of order. */
async function backfilledSchedule(world: World) {
  const { workspace, deps, api } = world;
  const { _id } = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    type: 'cron',
    frequency: '0 0 1 * *',
    schedule: soon(-400 * 86_400),
  });
  const now = new Date();
  /** Runs the first of a month this number of months ago. */
  const run = async (monthsAgo: number): Promise<number> => {
    const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo) / 1000;
    const answer = await api.post(`/schedule/coworker/${_id}/backfill`, { from: first - 3600, to: first + 3600 });
    expect(answer).toMatchObject({ status: 200, body: { planned: [first] } });
    await eventually(async () => {
      const recorded = await deps.mongo.collections.schedule_runs.findOne({ schedule_id: _id, scheduled_for: first });
      expect(recorded).toMatchObject({ status: 'completed' });
    });
    return first;
  };
  return { _id, run };
}

/** Prepared executions; a schedule created every other one for a planned time in the past. */
async function executionsOf(world: World, keyOf: ListCase['keyOf'], keyOfStored: (record: any) => string) {
  const { run, _id } = await backfilledSchedule(world);
  let made = 0;
  return {
    keyOf,
    async make() {
      made += 1;
      if (made % 2 === 1) return keyOfStored(await prepareExecution(world.workspace, flowThatCalls([])));
      await run(made);
      const { executions } = world.deps.mongo.collections;
      const ofSchedule = await executions.find({ schedule: _id }).sort({ created_at: -1 }).toArray();
      expect(ofSchedule).toHaveLength(made / 2);
      return keyOfStored(ofSchedule[0]);
    },
  };
}

/** The order of publication or waiting, which differs from the order of the ids. */
const otherOrder = [2, 0, 3, 1];

async function inboxCase(world: World): Promise<ListCase> {
  const { workspace, deps } = world;
  const asks = { name: 'Asks', agents: [{ ...agentThatCalls([]), is_preview_mode_enabled: true }] };
  const executions: string[] = [];
  for (const _ of otherOrder) executions.push((await prepareExecution(workspace, asks)).execution_id);
  await holdTags(world);
  let made = 0;
  return {
    keyOf: ({ execution_id, approval_id }) => execution_id ?? approval_id,
    async make() {
      const at = made++;
      if (at % 3 === 1) return heldCall(world);
      const id = executions[otherOrder[at] ?? 0] ?? '';
      expect(await moveExecution(workspace, id, 'execute')).toMatchObject({ status: 200 });
      await eventually(async () => {
        const record = await deps.mongo.collections.executions.findOne({ _id: id });
        expect(record?.execution_context.waiting_for).toMatchObject({ kind: 'preview' });
      });
      return id;
    },
  };
}

async function marketplaceCase(world: World): Promise<ListCase> {
  const ids: string[] = [];
  for (const _ of otherOrder) ids.push((await post(world, '/agentflow', flowThatCalls([])))._id);
  let made = 0;
  return {
    isShared: true,
    keyOf: ({ _id }) => _id,
    async make() {
      const { _id } = await post(world, '/marketplace', { agentflow_id: ids[otherOrder[made++] ?? 0] });
      // A new version of the first publication does not change its position.
      await post(world, '/marketplace', { agentflow_id: ids[otherOrder[0] ?? 0] });
      return _id;
    },
  };
}

const tableCase = async (world: World, field: string): Promise<ListCase> => ({
  field,
  make: async () => (await createTable(world.workspace))._id,
  keyOf: ({ _id }) => _id,
});

const projectCase = async (world: World): Promise<ListCase> => ({
  make: async () => (await post(world, '/v1/project', { name: newId() }, ''))._id,
  keyOf: ({ _id }) => _id,
});

/** Every list route, with how its elements are created and recognised. */
export const lists: Record<string, (world: World) => Promise<ListCase>> = {
  '/v1/apikeys': async (world) => {
    const { projectID: project_id, deps } = world;
    const present = await deps.mongo.collections.api_keys.findOne({ 'scope.project_id': project_id });
    return {
      query: { project_id },
      before: [present?.id ?? ''],
      make: async () => (await post(world, '/v1/apikeys', { name: 'key', project_id }, '')).id,
      keyOf: ({ id }) => id,
    };
  },
  '/v1/auth/sessions': async ({ deps, userId: user_id, projectID: project_id }) => {
    const present = await deps.mongo.collections.sessions.find({ user_id }).toArray();
    return {
      before: present.map(({ _id }) => _id),
      make: async () => (await deps.auth.sessions.start({ kind: 'session', user_id, project_id }))._id,
      keyOf: ({ session_id }) => session_id,
    };
  },
  '/v1/lifecycles': async (world) => ({ make: () => governedCall(world), keyOf: ({ lifecycle_id }) => lifecycle_id }),
  '/connectors/{projectID}/{connector_id}/agreements': async ({ deps, workspace, userId, projectID }) => {
    const connector_id = await connectServer(workspace, { url: 'https://mcp.example.com/mcp' });
    return {
      make: async () => {
        const _id = newId();
        const of = {
          connector_id,
          project_id: projectID,
          user_id: userId,
          agentflow_id: newId(),
          execution_id: newId(),
        };
        const agreed = { agreed_at: epochSeconds(), authorized_at: 1, changed_by: [], content_digest: _id };
        await deps.mongo.collections.mcp_agreements.insertOne({ _id, ...of, ...agreed, agentflow_name: 'Flow' });
        return _id;
      },
      keyOf: ({ agreement_id }) => agreement_id,
      params: { connector_id },
    };
  },
  '/v1/memories': async ({ deps, projectID: project_id }) => ({
    make: async () => {
      const _id = newId();
      const fields = { status: 'completed', source: null, failure: null, budget: null, parts: [], ended_at: null };
      await deps.mongo.collections.memories.insertOne({
        _id,
        project_id,
        ...fields,
        created_at: epochSeconds(),
      } as never);
      return _id;
    },
    keyOf: ({ memory_id }) => memory_id,
  }),
  '/v1/policy-decisions': async (world) => ({
    make: () => governedCall(world),
    keyOf: ({ lifecycle_id }) => lifecycle_id,
  }),
  '/v1/approvals': async (world) => {
    await holdTags(world);
    return { make: () => heldCall(world), keyOf: ({ approval_id }) => approval_id };
  },
  '/v1/audit': async (world) => ({ make: () => governedCall(world), keyOf: ({ lifecycle_id }) => lifecycle_id }),
  '/v1/audit/checkpoints': async (world) => ({
    async make() {
      await governedCall(world);
      const checkpoint = await world.deps.governance.audit.checkpoint(world.workspace.organizationId);
      return String(checkpoint?.number);
    },
    keyOf: ({ number }) => String(number),
  }),
  '/v1/policies/versions': async ({ api }) => ({
    async make() {
      // A new version each time: the same rules would not create one.
      const policies = [{ policy_id: `all-${newId()}`, effect: 'permit' }];
      const { status, body } = await api.put('/v1/policies', { policies });
      expect(status).toBe(200);
      return String(body.version);
    },
    keyOf: ({ version }) => String(version),
  }),
  '/v1/connected-apps': async ({ deps, userId: user_id, projectID: project_id }) => ({
    async make() {
      const _id = newId();
      // The result of a code exchange, which otherwise needs a consent in a browser.
      await deps.oauth.grants.open({ _id, client_id: 'client', user_id, project_id, scopes: [], resource: 'r' });
      return _id;
    },
    keyOf: ({ id }) => id,
  }),
  '/v1/project': async (world) => ({ ...(await projectCase(world)), before: [world.projectID] }),
  '/v1/project/all': async (world) => ({ ...(await projectCase(world)), query: { userId: world.userId } }),
  '/project-member/{projectID}': async (world) => ({
    before: [world.userId],
    async make() {
      const { userId: user_id } = await createPerson(world.deps, { workspace: world.workspace, role: null });
      await post(world, `/project-member/${world.projectID}`, { user_id, role: 'MEMBER' });
      return user_id;
    },
    keyOf: ({ user_id }) => user_id,
  }),
  '/project-member/{projectID}/invitations': async (world) => ({
    async make() {
      const email = `${newId()}@example.com`;
      return (await post(world, `/project-member/${world.projectID}/invitations`, { email, role: 'MEMBER' }))
        .invitation_id;
    },
    keyOf: ({ invitation_id }) => invitation_id,
  }),
  '/credit/history': async ({ workspace, deps }) => ({
    async make() {
      const execution_id = await startExecution(workspace, flowThatCalls([]));
      await untilListed(workspace, execution_id, 'completed');
      const charged = await deps.mongo.collections.credit_history.find({ execution_id }).toArray();
      expect(charged.length).toBeGreaterThan(0);
      return charged.sort((a, b) => a.at - b.at || (a._id < b._id ? -1 : 1)).map(({ _id }) => _id);
    },
    keyOf: ({ _id }) => _id,
  }),
  '/agentflow': posted('/agentflow', () => flowThatCalls([])),
  '/agentflow/{id}/versions': async (world) => {
    const { _id: id } = await post(world, '/agentflow', flowThatCalls([]));
    return {
      params: { id },
      make: async () => String((await post(world, `/agentflow/${id}/promote`, {})).version),
      keyOf: ({ version }) => String(version),
    };
  },
  '/agentflow/{id}/channels/{channel}/history': async (world) => {
    const { _id: id } = await post(world, '/agentflow', flowThatCalls([]));
    return {
      params: { id, channel: 'production' },
      make: async () => String((await post(world, `/agentflow/${id}/promote`, {})).version),
      keyOf: ({ version }) => String(version),
    };
  },
  '/marketplace': marketplaceCase,
  '/skill': posted('/skill', () => ({ name: 'Skill' })),
  '/action': posted('/action', () => ({ name: 'Action', endpoint: 'https://example.com/' })),
  '/connectors/{projectID}': posted('/actions/restful/config', () => ({ name: 'Connector', config: {} })),
  '/{projectID}/execution_flows': (world) =>
    executionsOf(
      world,
      ({ _id }) => _id,
      ({ _id }) => _id,
    ),
  '/task': (world) =>
    executionsOf(
      world,
      ({ execution_id }) => execution_id,
      ({ _id }) => _id,
    ),
  '/inbox': inboxCase,
  '/tag': posted('/tag', () => ({ name: newId() })),
  '/storage/{projectID}': (world) => tableCase(world, 'tables'),
  '/storage/{projectID}/table_names': (world) => tableCase(world, 'table_names'),
  '/storage/{projectID}/table/{table_id}/records': async ({ workspace }) => {
    const table = await createTable(workspace);
    let rows = 0;
    return {
      params: { table_id: table._id },
      async make() {
        expect(await table.insert({})).toMatchObject({ status: 201 });
        return String(++rows);
      },
      keyOf: ({ row_id }) => String(row_id),
    };
  },
  '/schedule/coworker': async ({ workspace }) => {
    const coworker_id = await coworker(workspace);
    return {
      make: async () => (await scheduled(workspace, { coworker_id, type: 'interval', frequency: 86_400 }))._id,
      keyOf: ({ _id }) => _id,
    };
  },
  '/schedule/coworker/{id}/runs': async (world) => {
    const { _id: id, run } = await backfilledSchedule(world);
    let monthsAgo = 6;
    return {
      params: { id },
      make: async () => String(await run(monthsAgo--)),
      keyOf: ({ scheduled_for }) => String(scheduled_for),
    };
  },
  '/file/{projectID}': async (world) => ({
    async make() {
      const { status, body } = await send(world.api, `/file/${world.projectID}`, [file('a.txt', 'text')]);
      expect([status, body]).toEqual([201, expect.any(Object)]);
      return body.data[0]._id;
    },
    keyOf: ({ _id }) => _id,
  }),
  '/file/{projectID}/connector/{connector_id}': async (world) => {
    const { _id: connector_id } = await post(world, '/actions/restful/config', { name: 'Connector', config: {} });
    return {
      params: { connector_id },
      async make() {
        const parts = [{ name: 'connector_id', content: connector_id }, file('a.txt', 'text')];
        const { status, body } = await send(world.api, `/file/${world.projectID}`, parts);
        expect([status, body]).toEqual([201, expect.any(Object)]);
        return body.data[0]._id;
      },
      keyOf: ({ _id }) => _id,
    };
  },
};
