import { beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, paginate, type Client } from '../../sdk/node/src/index.js';
import { Grant } from '../../src/auth/grants.js';
import { newId } from '../../src/base/ids.js';
import { createKey, createWorkspace, useDeps } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { testRun } from '../support/run.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';
import { all, refusalOf } from './fake-service.js';
import { pythonTests } from './python.js';
import { pythonTest } from '../support/python-test.js';

const deps = useDeps();
const sink = await useHttpSink();
beforeAll(async () => {
  // A run that calls it continues until it is cancelled.
  sink.hold('/held');
});

/** The environment of the clients, with the key of a colleague who can approve. */
async function environment() {
  const workspace = await createWorkspace(deps, { grants: Grant.options });
  const colleague = await createKey(deps, { ...workspace, userId: newId() });
  return { workspace: `${testRun().url}/ws_${workspace.projectID}`, apiKey: workspace.apiKey, colleague };
}

async function connect(): Promise<Client> {
  return createClient(await environment());
}

const greeter = { name: 'Greeter', agents: [{ title: 'Greeter', prompt: { template: 'Greet {{ goal }}' } }] };

describe('the Node client on the service', () => {
  test('saves, queries and inspects context', async () => {
    verifies('sdk.node', 'sdk.environment');
    const { gateway } = await connect();
    const acme = { id: 'acme', type: 'Customer', name: 'Acme', properties: { city: 'Oslo' } };
    const saved = await gateway.saveContext({
      entities: [acme],
      facts: [{ subject: 'acme', predicate: 'tier', object: 'gold' }],
      source: 'node',
    });
    expect(saved).toMatchObject({ ids: ['acme'], saved: { entities: 1, facts: 1 } });
    const query = 'MATCH (c:Customer) WHERE c.project_id = $project_id AND c.city = $city RETURN c';
    const answer = await gateway.queryContext({ query, params: { city: 'Oslo' }, limit: 5 });
    expect(answer).toMatchObject({ entities: [{ id: 'acme', name: 'Acme' }], limit: 5, truncated: false });
    expect(await gateway.lifecycle(answer.lifecycle_id)).toMatchObject({ tool: 'query-context', status: 'completed' });
    expect((await all(paginate(gateway.lifecycles, { limit: 1 }))).map(({ tool }) => tool)).toEqual([
      'query-context',
      'save-context',
    ]);
    expect(
      await gateway.ingestCatalog({ source: 'catalog', entities: [{ type: 'Table', name: 'orders' }] }),
    ).toMatchObject({ saved: { entities: 1 } });
    expect(await gateway.ontology()).toMatchObject({ version: 0, ontology: null, draft: null });
    expect(await gateway.verifyAudit()).toMatchObject({ valid: true });
    expect((await gateway.auditEntries({ limit: 1 })).data).toHaveLength(1);
    expect((await gateway.policyDecisions()).total_count).toBeGreaterThan(0);
  });

  test('uses the other tools, dry runs and the project mode', async () => {
    verifies('sdk.node');
    const { gateway } = await connect();
    expect(await gateway.docs()).toMatchObject({ topic: 'governance', auth_kind: 'api_key' });
    expect(await gateway.dryRun('save-model', { model: 'small' })).toMatchObject({
      dry_run: true,
      would: { save: { model: 'small' } },
    });
    expect(await gateway.saveModel({ model: 'small' })).toMatchObject({ model: 'small', max_tokens: null });
    expect(await gateway.saveSkill({ name: 'Look up' })).toMatchObject({ name: 'Look up' });
    expect(await gateway.bindRepository({ repository: 'octo/of-the-node-sdk' })).toMatchObject({
      repository: 'octo/of-the-node-sdk',
      branch: null,
      webhook_secret: expect.any(String),
    });
    expect(await gateway.setMode('governed')).toMatchObject({ mode: 'governed' });
    expect(await gateway.mode()).toMatchObject({ mode: 'governed' });
    expect(await gateway.request<object>('GET', '/v1/policies')).toHaveProperty('policies');
  });

  test('reports a refusal and its stage', async () => {
    verifies('sdk.node');
    const { gateway, platform } = await connect();
    const refusal = await refusalOf(gateway.queryContext({ query: 'CREATE (n) RETURN n' }));
    expect(refusal).toMatchObject({ name: 'ServiceError', status: 422, error: 'S4:validate-input' });
    expect((await gateway.lifecycle(refusal.lifecycle_id ?? '')).stages.at(-1)).toMatchObject({
      stage: 'S4:validate-input',
      status: 'failed',
    });
    expect(await refusalOf(platform.agentflows.get('none'))).toMatchObject({ status: 404, error: 'not_found' });
  });

  test('waits for an approval and sends the call again with its token', async () => {
    verifies('sdk.node');
    const { colleague, ...own } = await environment();
    const { gateway } = createClient(own);
    const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['save-model'] };
    await gateway.request('PUT', '/v1/policies', { body: { policies: [{ policy_id: 'all', effect: 'permit' }, ask] } });
    const call = { model: 'large' };
    const waiting = await refusalOf(gateway.saveModel(call));
    expect(waiting).toMatchObject({ status: 202, error: 'pending_approval' });
    const id = waiting.approval_id ?? '';
    const approver = createClient({ ...own, apiKey: colleague });
    expect((await approver.gateway.approvals({ status: 'pending' })).data).toMatchObject([
      { approval_id: id, tool: 'save-model' },
    ]);
    expect(await approver.gateway.approve(id, 'go on')).toMatchObject({
      status: 'approved',
      votes: [{ comment: 'go on' }],
    });
    const { resume_token } = await gateway.approval(id);
    expect(
      await gateway.saveModel(call, { ...(resume_token !== undefined && { resumeToken: resume_token }) }),
    ).toMatchObject({ model: 'large' });
    const second = await refusalOf(gateway.saveModel(call));
    expect(await approver.gateway.reject(second.approval_id ?? '')).toMatchObject({ status: 'rejected' });
  });

  test('runs an agentflow to its end and follows its events', async () => {
    verifies('sdk.node');
    const { gateway, platform } = await connect();
    const { agentflows, executions } = platform;
    const { _id } = await agentflows.create(greeter);
    const news = platform.events();
    expect((await news.next()).value).toMatchObject({ type: 'opened' });
    const { execution_id: id } = await executions.create({ agentflow_id: _id, goal: 'the team' });
    expect(await executions.execute(id)).toEqual({ execution_id: id, status: 'ready' });
    expect(await executions.waitForEnd(id)).toMatchObject({
      status: 'completed',
      agents_output: [{ title: 'Greeter' }],
    });
    for await (const { type } of news) if (type === 'execution_ended') break;
    const numbers = async (lastEventId?: number) =>
      (await all(executions.events(id, { ...(lastEventId !== undefined && { lastEventId }) }))).flatMap((event) =>
        'seq' in event ? [event.seq] : [],
      );
    const seen = await numbers();
    expect(seen).toEqual(seen.map((_, at) => at + 1));
    expect(await numbers(2)).toEqual(seen.slice(2));
    expect((await executions.monitoring(id)).steps[0]).toMatchObject({ status: 'completed' });
    expect((await executions.list({ status: 'completed', agentflow_id: _id })).total_count).toBe(1);
    expect(await executions.rerun(id)).toMatchObject({ status: 'ready', execution_context: { rerun_of: id } });
    expect(await agentflows.update(_id, { description: 'Greets' })).toMatchObject({ description: 'Greets' });
    const { digest } = await agentflows.promote(_id);
    const release = await agentflows.publish(_id, { note: 'Greets' });
    expect(await agentflows.release(_id, '1')).toMatchObject({ digest, agentflow: { _id } });
    expect((await agentflows.releases(_id)).data.map(({ version }) => version)).toEqual([2, 1]);
    expect(await agentflows.point(_id, 'staging', { version: 2, expected: null })).toMatchObject({
      digest: release.digest,
    });
    expect((await agentflows.history(_id, 'staging')).data).toMatchObject([{ version: 2, note: '' }]);
    expect((await agentflows.channels(_id)).channels).toMatchObject([{ version: 1 }, { channel: 'staging' }]);
    expect(await agentflows.diff(_id, { from: '1', to: 'staging' })).toMatchObject({ to: { version: 2 } });
    const run = await gateway.runAgent({ agentflow_id: _id, goal: 'the newcomer' });
    expect(await executions.waitForEnd(run.execution_id)).toMatchObject({ status: 'completed' });
    expect((await gateway.orchestrate({ operation: 'get', execution_id: run.execution_id })).execution).toMatchObject({
      status: 'completed',
    });
  });

  test('pauses, resumes and cancels a run and observes the changes', async () => {
    verifies('sdk.node');
    const { executions, agentflows } = (await connect()).platform;
    const { _id } = await agentflows.create(
      flowThatCalls([`${sink.url}/held`]) as Parameters<typeof agentflows.create>[0],
    );
    const { execution_id: id } = await executions.create({ agentflow_id: _id, goal: 'goal' });
    await executions.execute(id);
    for await (const { type } of executions.events(id)) if (type === 'step_started') break;
    expect(await executions.pause(id, 'maintenance')).toEqual({ execution_id: id, status: 'paused' });
    expect(await executions.resume(id)).toEqual({ execution_id: id, status: 'running' });
    expect(await refusalOf(executions.resume(id))).toMatchObject({ status: 409, error: 'conflict' });
    const ended = executions.waitForEnd(id);
    expect(await executions.cancel(id, 'enough')).toEqual({ execution_id: id, status: 'failed' });
    expect(await ended).toMatchObject({ status: 'failed', execution_context: { failure: { reason: 'cancelled' } } });
  });

  test('manages schedules, tables and files', async () => {
    verifies('sdk.node');
    const { call, platform } = await connect();
    const { agentflows, schedules, tables, files, request } = platform;
    const { _id: coworker_id } = await agentflows.create(greeter);
    const { _id: schedule } = await schedules.create({
      coworker_id,
      goal: 'Brief',
      type: 'interval',
      frequency: 86_400,
    });
    expect((await schedules.runs(schedule)).next).toHaveLength(10);
    expect(await schedules.update(schedule, { status: 'paused', reason: 'holidays' })).toMatchObject({
      status: 'paused',
      reason: 'holidays',
    });
    expect(await schedules.delete(schedule)).toMatchObject({ _id: schedule });
    expect((await schedules.list()).total_count).toBe(0);

    const columns = [
      { column_name: 'Company', column_type: 'string' },
      { column_name: 'Price', column_type: 'number' },
    ] as const;
    const { _id: table } = await tables.create({ table_name: 'Leads', columns: [...columns] });
    await tables.insertRows(table, [
      { company: 'Fjord', price: 1 },
      { company: 'Berg', price: 20 },
    ]);
    const { _id: dal } = await tables.insertRow(table, { company: 'Dal', price: 30 });
    await tables.updateRecord(table, dal, { price: 31 });
    expect((await tables.records(table, { filter: { price: { gte: 10 } }, sort: 'price' })).data).toMatchObject([
      { company: 'Berg' },
      { price: 31 },
    ]);
    expect(await tables.deleteRecord(table, dal)).toMatchObject({ _id: dal });
    expect((await all(paginate(tables.list))).map(({ table_name }) => table_name)).toEqual(['Leads']);

    const [file] = await files.upload([{ name: 'note æ.txt', content: 'blåbær', type: 'text/plain' }], {
      tags: ['a', 'b'],
    });
    expect(file).toMatchObject({ name: 'note æ.txt', tags: ['a', 'b'], status: 'ready' });
    expect(new TextDecoder().decode(await files.download(file?._id ?? ''))).toBe('blåbær');
    expect((await call('get', '/marketplace')).data).toEqual(expect.any(Array));
    expect(await call('get', '/metrics')).toContain('# HELP');
    expect(await request('GET', '/marketplace')).toHaveProperty('data');
  });
});

describe('the Python client on the service', () => {
  pythonTest.each(['Context', 'Tools', 'Refusals', 'Approvals', 'Executions', 'Moves', 'Records'])(
    'does the same: %s',
    async (name) => {
      verifies('sdk.python', 'sdk.environment');
      const { workspace, apiKey, colleague } = await environment();
      const env = {
        SERVICE_WORKSPACE: workspace,
        SERVICE_API_KEY: apiKey,
        COLLEAGUE_API_KEY: colleague,
        HELD_URL: `${sink.url}/held`,
      };
      await pythonTests(`tests.on_a_service.${name}`, env);
    },
  );
});
