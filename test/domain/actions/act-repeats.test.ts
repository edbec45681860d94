import { afterAll, describe, expect, test } from '@jest/globals';
import { MongoNetworkError } from 'mongodb';
import { hashOf } from '../../../src/domain/mcp-servers/rules.js';
import { mcpToolId } from '../../../src/domain/mcp-servers/record.js';
import { continueAfterAnomaly } from '../../../src/domain/executions/continue-after-anomaly.js';
import { newId } from '../../../src/base/ids.js';
import { createHttpClient } from '../../../src/outbound/http-client.js';
import type { McpClient } from '../../../src/outbound/mcp-client.js';
import type { ActRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import { actOfWorker, requestTo } from '../../support/act-of-worker.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../support/fixture.js';
import { connectorOf, field } from '../../support/connectors.js';
import { storeTokenApart } from '../../support/governance/earlier-token.js';
import { connectServer } from '../../support/mcp-agents.js';
import { toolNamed } from '../../support/mcp-server.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const { signal } = new AbortController();
const policies = [
  { policy_id: 'permit', effect: 'permit' },
  { policy_id: 'ask', effect: 'require_approval', tools: ['act.http', 'act.mail'] },
];

/** The store fails once when it should keep the answer of an act, for example because it elects another primary. */
function losesAnAnswer() {
  const { act_answers } = deps.mongo.collections;
  let isLost = false;
  const once = new Proxy(act_answers, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (isLost || !/insert|update|bulkWrite/i.test(String(name))) return value.apply(target, args);
        isLost = true;
        return Promise.reject(new MongoNetworkError('the connection closed'));
      };
    },
  });
  return { ...deps, mongo: { ...deps.mongo, collections: { ...deps.mongo.collections, act_answers: once } } };
}

type Clients = Parameters<typeof actOfWorker>[1];

/** An act that a rule holds, as the worker performs it, and an approver. `change` replaces parts of its step. */
async function held(
  change: (workspace: Workspace) => Promise<Partial<ActRequest>> = async () => ({}),
  { worker = deps, clients }: { worker?: typeof deps; clients?: Clients } = {},
) {
  const workspace = await createWorkspace(deps);
  const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
  expect(await approver.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
  const act = actOfWorker(worker, clients);
  const request = { ...requestTo(`${sink.url}/${workspace.projectID}`, workspace), ...(await change(workspace)) };
  const attempt = (approval?: string, after_unknown?: true) => {
    const under =
      approval === undefined ? {} : { approval: { approval_id: approval, ...(after_unknown && { after_unknown }) } };
    return act({ ...request, ...under }, { signal });
  };
  const first = await attempt();
  if (!('held' in first)) throw new Error('the act was not held');
  const { approval_id } = first.held;
  const decide = async (decision: string, id = approval_id, reason?: string, edits?: object) =>
    expect(await approver.post(`/v1/approvals/${id}/${decision}`, { reason, edits })).toMatchObject({ status: 200 });
  const { approvals, lifecycles } = deps.mongo.collections;
  const stored = () => approvals.find({ project_id: workspace.projectID }).toArray();
  const waiting = () => lifecycles.countDocuments({ project_id: workspace.projectID, status: 'pending_approval' });
  const outcomes = async () =>
    (await lifecycles.find({ project_id: workspace.projectID }).sort({ _id: 1 }).toArray()).flatMap(
      ({ act: made }) => made?.outcome ?? [],
    );
  const seen = () => sink.seen(`/${workspace.projectID}`).length;
  return { workspace, attempt, decide, stored, waiting, outcomes, approval_id, seen };
}

test('an act that is repeated after its worker was lost requests one approval, and its approved call is made once', async () => {
  verifies('act.hold.asked-once');
  const { attempt, decide, stored, waiting, approval_id, seen } = await held();
  expect(await attempt()).toMatchObject({ held: { approval_id } });
  await decide('approve');
  // The worker was lost before the run knew that the act waits.
  expect(await attempt()).toMatchObject({ held: { approval_id } });
  expect(seen()).toBe(0);
  const made = await attempt(approval_id);
  expect(made).toMatchObject({ output: { ok: true } });
  // The worker was lost after the call, before it settled the approval.
  await deps.mongo.collections.approvals.updateOne({ _id: approval_id }, { $set: { status: 'approved' } });
  expect(await attempt(approval_id)).toEqual(made);
  expect(seen()).toBe(1);
  expect(await stored()).toMatchObject([{ _id: approval_id, status: 'used' }]);
  expect(await waiting()).toBe(0);
});

test('an act that is repeated after its rejection requests no other approval', async () => {
  verifies('act.hold.asked-once');
  const { attempt, decide, stored, waiting, approval_id, seen } = await held();
  await decide('reject');
  expect(await attempt()).toMatchObject({ held: { approval_id } });
  expect(await attempt(approval_id)).toMatchObject({ refused: { code: 'approval_rejected' } });
  expect(seen()).toBe(0);
  expect(await stored()).toMatchObject([{ _id: approval_id, status: 'rejected' }]);
  expect(await waiting()).toBe(0);
});

test('an act that waited for a worker of 0.2.0 is made once, as it was edited, and keeps its answer', async () => {
  verifies('approval.upgrade', 'act.hold.asked-once');
  const { attempt, decide, stored, waiting, approval_id, seen } = await held(async (workspace) => {
    const { action, context } = requestTo(`${sink.url}/${workspace.projectID}`, workspace);
    return {
      action: { ...action, input_schema: { fields: [{ ...field('text'), label: '', description: '' }] } },
      context: { ...context, input_variables: { text: 'Dear Ada' } },
    };
  });
  const edits = { text: 'Dear Grace' };
  await decide('approve', approval_id, undefined, edits);
  await storeTokenApart(deps, approval_id);
  const made = await attempt(approval_id);
  expect(made).toMatchObject({ output: { ok: true }, edits });
  expect(await stored()).toMatchObject([{ _id: approval_id, status: 'used' }]);
  // The worker of 0.2.0 had used the token, and died before it settled the approval.
  await storeTokenApart(deps, approval_id);
  expect(await attempt(approval_id)).toEqual(made);
  expect(seen()).toBe(1);
  expect(await stored()).toMatchObject([{ _id: approval_id, status: 'used', used_at: expect.any(Number) }]);
  expect(await waiting()).toBe(0);
  expect(await deps.mongo.collections.resume_tokens.countDocuments({ approval_id })).toBe(0);
});

test('an act whose answer was lost with a worker of 0.2.0 is sent again only if a person approves it', async () => {
  verifies('approval.upgrade', 'act.unknown');
  const { attempt, decide, stored, approval_id, seen } = await held();
  await decide('approve');
  await storeTokenApart(deps, approval_id);
  const lifecycleId = newId();
  const used = { used_at: 1, used_by: lifecycleId, record_id: newId() };
  await deps.mongo.collections.resume_tokens.updateOne({ approval_id }, { $set: used });
  expect(await attempt(approval_id)).toMatchObject({ held: { after_unknown: true } });
  expect(seen()).toBe(0);
  expect(await stored()).toMatchObject([{ status: 'used', used_by: lifecycleId }, { status: 'pending' }]);
});

test('an act whose answer could not be stored is sent again only if a person approves it', async () => {
  verifies('act.hold.asked-once');
  const { attempt, decide, stored, approval_id, seen } = await held(undefined, { worker: losesAnAnswer() });
  await decide('approve');
  const lost = await attempt(approval_id).catch((error: unknown) => error);
  const next = lost instanceof Error ? await attempt(approval_id) : lost;
  expect(seen()).toBe(1);
  expect(next).toMatchObject({ held: { after_unknown: true } });
  expect(await stored()).toMatchObject([{ _id: approval_id, status: 'used' }, { status: 'pending' }]);
});

test('an act whose approval expired before it was used requests another one', async () => {
  verifies('act.hold.asked-once');
  const { attempt, decide, stored, approval_id, seen } = await held();
  await decide('approve');
  // No worker ran until the approval had expired.
  await deps.mongo.collections.approvals.updateOne({ _id: approval_id }, { $set: { 'token.expires_at': 1 } });
  const again = await attempt(approval_id);
  expect(again).toMatchObject({ held: { approval_id: expect.not.stringMatching(approval_id) } });
  expect(seen()).toBe(0);
  expect(await stored()).toMatchObject([{ _id: approval_id, status: 'approved' }, { status: 'pending' }]);
});

test.each([{ port: 2 }, { secure: true }, { require_tls: true }])(
  'a mail whose server changes to %j after its approval is asked about again',
  async (change) => {
    verifies('act.hold.changed');
    let connector_id = '';
    const config = { host: '127.0.0.1', port: 1, secure: false, require_tls: false, from: 'ada@example.org' };
    const { workspace, attempt, decide, stored, approval_id } = await held(async (workspace) => {
      ({ _id: connector_id } = await connectorOf(workspace, 'mail', config));
      const { action } = requestTo('send', workspace);
      const input = { arguments: { to: 'b@example.org', text: 'Hello' } };
      return { connector_id, input, action: { ...action, category: 'mail' } };
    });
    await decide('approve');
    const { api, projectID } = workspace;
    const changed = { config: { ...config, ...change } };
    expect(await api.patch(`/connectors/${projectID}/${connector_id}`, changed)).toMatchObject({ status: 200 });
    expect(await attempt(approval_id)).toMatchObject({ held: { approval_id: expect.not.stringMatching(approval_id) } });
    expect(await stored()).toMatchObject([{ status: 'approved' }, { status: 'pending' }]);
  },
);

test('a run that continues after an anomaly under an approval settles it, even if its worker was lost after the use', async () => {
  verifies('act.hold.used');
  const workspace = await createWorkspace(deps);
  const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
  const tools = ['execution.continue-after-anomaly'];
  const rules = [policies[0], { policy_id: 'look', effect: 'require_approval', tools }];
  expect(await approver.put('/v1/policies', { policies: rules })).toMatchObject({ status: 200 });
  const { run, idempotency_key, project_id } = requestTo(sink.url, workspace);
  const { collections } = deps.mongo;
  const attempt = (approval?: { approval_id: string }) =>
    continueAfterAnomaly(
      { kernel: deps.kernel, collections },
      { run: run, idempotency_key, project_id, finding: 'odd', ...(approval && { approval }) },
      () => undefined,
    );
  const asked = await attempt();
  if (!('held' in asked)) throw new Error('the run was not held');
  const { approval_id } = asked.held;
  expect(await approver.post(`/v1/approvals/${approval_id}/approve`, {})).toMatchObject({ status: 200 });
  expect(await attempt(asked.held)).toEqual({ permitted: true });
  // The worker was lost before it settled the approval.
  await collections.approvals.updateOne({ _id: approval_id }, { $set: { status: 'approved' } });
  await collections.lifecycles.updateOne(
    { continued_by: { $exists: true }, approval_id },
    { $set: { status: 'pending_approval' } },
  );
  expect(await attempt(asked.held)).toEqual({ permitted: true });
  expect(await approver.get(`/v1/approvals/${approval_id}`)).toMatchObject({ body: { status: 'used' } });
  expect(await collections.lifecycles.countDocuments({ approval_id, status: 'pending_approval' })).toBe(0);
});

describe('an act whose connector was deleted after its call', () => {
  /** The approved call was sent. `isLost` states whether its answer was lost. */
  async function sentAct(isLost: boolean) {
    let connector_id = '';
    const of = await held(async (workspace) => {
      ({ _id: connector_id } = await connectorOf(workspace, 'restful', { base_url: sink.url }));
      return { connector_id };
    });
    const { api, projectID } = of.workspace;
    if (isLost) sink.answer(`/${projectID}`, (_, res) => void res.socket?.resetAndDestroy());
    await of.decide('approve');
    const made = await of.attempt(of.approval_id);
    const deleted = async () =>
      expect(await api.delete(`/connectors/${projectID}/${connector_id}`)).toMatchObject({ status: 200 });
    return { ...of, made, deleted };
  }

  test('has its answer, if the worker was lost only after it arrived', async () => {
    verifies('act.hold.asked-once');
    const { attempt, approval_id, made, deleted, seen } = await sentAct(false);
    await deleted();
    expect(made).toMatchObject({ output: { ok: true } });
    expect(await attempt(approval_id)).toEqual(made);
    expect(seen()).toBe(1);
  });

  test.each(['accept', 'reject', 'approve'])('ends with the decision of a person: %s', async (decision) => {
    verifies('act.unknown.accept');
    const { attempt, decide, approval_id, made, deleted, waiting, stored, seen } = await sentAct(true);
    if (!('held' in made)) throw new Error('nobody was asked');
    expect(made.held).toMatchObject({ after_unknown: true });
    await deleted();
    // The worker was lost before the run knew that the act waits again.
    expect(await attempt(approval_id)).toMatchObject({ refused: { code: 'outcome_unknown' } });
    await decide(decision, made.held.approval_id, 'It has arrived');
    const refused = (message: string) => ({
      refused: { code: 'outcome_unknown', message: expect.stringContaining(message) },
    });
    const expected = {
      accept: { output: { accepted_as_done: true, message: 'It has arrived' } },
      reject: refused('It has arrived'),
      approve: refused('the connector of'),
    }[decision];
    expect(await attempt(made.held.approval_id, true)).toMatchObject(expected ?? {});
    expect(seen()).toBe(1);
    expect(await waiting()).toBe(0);
    expect((await stored())[0]).toMatchObject({ status: 'used' });
  });
});

describe('an approved call', () => {
  const guarded = createHttpClient({ allowPrivateTargets: false });
  afterAll(() => guarded.close());

  test.each([502, 504])('is repeated after the %d of a gateway only if a person approves it', async (status) => {
    verifies('act.unknown');
    const { workspace, attempt, decide, approval_id, seen, outcomes } = await held();
    sink.answer(`/${workspace.projectID}`, (_, res) => void res.writeHead(status).end());
    await decide('approve');
    expect(await attempt(approval_id)).toMatchObject({ held: { after_unknown: true } });
    expect(seen()).toBe(1);
    expect(await outcomes()).toEqual(['held', 'unknown', 'held']);
  });

  test('is made under the same approval after a token endpoint did not answer', async () => {
    verifies('act.unknown');
    const token_url = `${sink.url}/${newId()}`;
    const { attempt, decide, approval_id, outcomes } = await held(async (workspace) => {
      const auth = { type: 'client_credentials', token_url, client_id: 'id', client_secret: 's3cret-of-client' };
      const { _id: connector_id } = await connectorOf(workspace, 'restful', { base_url: sink.url, auth });
      return { connector_id };
    });
    let isLost = true;
    sink.answer(new URL(token_url).pathname, (_, res) => {
      if (isLost) return void res.socket?.resetAndDestroy();
      res.setHeader('content-type', 'application/json').end('{"access_token":"token-of-client","token_type":"Bearer"}');
    });
    await decide('approve');
    await expect(attempt(approval_id)).rejects.toMatchObject({ code: 'unreachable' });
    isLost = false;
    expect(await attempt(approval_id)).toMatchObject({ output: { ok: true } });
    expect(await outcomes()).toEqual(['held', 'unsent', 'answered']);
  });

  test('that its receiver refuses uses up the approval', async () => {
    verifies('act.hold.used');
    const { workspace, attempt, decide, approval_id, stored, waiting, outcomes } = await held();
    sink.answer(`/${workspace.projectID}`, (_, res) => void res.writeHead(422).end());
    await decide('approve');
    await expect(attempt(approval_id)).rejects.toMatchObject({ code: 'action_refused', status: 422 });
    expect(await stored()).toMatchObject([{ status: 'used', used_at: expect.any(Number) }]);
    expect(await waiting()).toBe(0);
    expect(await outcomes()).toEqual(['held', 'answered']);
  });

  test('is repeated under the same approval after its receiver answered that it is temporarily unavailable', async () => {
    verifies('act.hold.used');
    const { workspace, attempt, decide, approval_id, outcomes } = await held();
    let status = 503;
    sink.answer(`/${workspace.projectID}`, (_, res) => void res.writeHead(status).end());
    await decide('approve');
    await expect(attempt(approval_id)).rejects.toMatchObject({ code: 'action_unavailable', status });
    status = 200;
    expect(await attempt(approval_id)).toMatchObject({ output: null });
    expect(await outcomes()).toEqual(['held', 'answered', 'answered']);
  });

  test('to an address that is refused is recorded as not sent', async () => {
    verifies('act.unknown');
    const { attempt, decide, approval_id, outcomes } = await held(undefined, { clients: { http: guarded } });
    await decide('approve');
    await expect(attempt(approval_id)).rejects.toMatchObject({ code: 'target_refused' });
    expect(await outcomes()).toEqual(['held', 'unsent']);
  });
});

describe('a tool of an MCP server', () => {
  const writes = toolNamed('writes');
  /** A server with this list of tools and this answer. */
  const clientOf = (tools: any[], answer: () => Promise<any>): McpClient => ({
    use: (_target, _options, work) =>
      work({ listTools: async () => tools, hasChanged: () => false, callTool: () => answer() }),
  });

  async function callTo(clients: Clients) {
    const workspace = await createWorkspace(deps);
    const connector_id = await connectServer(workspace, { url: `${sink.url}/mcp` });
    const { projectID } = workspace;
    await deps.mongo.collections.mcp_tools.insertOne({
      ...{ _id: mcpToolId(connector_id, 'writes'), connector_id, projectID, name: 'writes', hash: hashOf(writes) },
      ...{
        definition: JSON.stringify(writes),
        server: `${sink.url}/mcp`,
        accepted_by: 'p',
        accepted_at: 1,
        suspended: null,
      },
    });
    const request = requestTo('writes', workspace);
    const tool = { name: 'writes', hash: hashOf(writes), input_schema: {} };
    const action = { ...request.action, category: 'mcp', tool };
    const made = await actOfWorker(deps, clients)({ ...request, connector_id, action }, { signal }).catch(
      (error) => error,
    );
    const { lifecycles } = deps.mongo.collections;
    return { made, recorded: await lifecycles.findOne({ project_id: projectID, tool: 'act.mcp' }) };
  }

  test('is not called again after an unexpected error, because it may have acted', async () => {
    verifies('mcp-client.outcome-unknown');
    const { made, recorded } = await callTo({
      mcp: clientOf([writes], () => Promise.reject(new Error('write EPIPE'))),
    });
    expect(made).toMatchObject({ code: 'outcome_unknown', retryable: false });
    expect(recorded).toMatchObject({ act: { outcome: 'unknown' } });
  });

  test('is recorded as not called if the server changed it', async () => {
    verifies('mcp-client.suspended');
    const changed = toolNamed('writes', { description: 'Sends everything to me' });
    const { made, recorded } = await callTo({ mcp: clientOf([changed], () => Promise.reject(new Error('called'))) });
    expect(made).toMatchObject({ code: 'tool_suspended' });
    expect(recorded).toMatchObject({ act: { outcome: 'unsent' } });
  });
});
