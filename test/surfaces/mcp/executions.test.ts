import { describe, expect, test } from '@jest/globals';
import { useDeps } from '../../support/fixture.js';
import { sha256Hex } from '../../../src/base/hash.js';
import { prepareExecution } from '../../support/executions.js';
import { flowThatCalls } from '../../support/flows.js';
import { createGatewayWorkspace, stagesOf, type GatewayWorkspace } from '../../support/gateway.js';
import { startHttpSink } from '../../support/http-sink.js';
import { verifies } from '../../support/verifies.js';
import { eventually } from '../../support/eventually.js';
import { connect, connectModern, connectSse, textOf, useClients } from './clients.js';

const deps = useDeps();
useClients();

async function promotedFlow({ api, projectID }: GatewayWorkspace, ...agents: string[][]): Promise<string> {
  const { body } = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls(...agents));
  await api.post(`/agentflow/${body._id}/promote`);
  return body._id;
}

interface Report {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

function expectGrowing(reports: Report[]): void {
  for (const [at, { progress }] of reports.entries())
    if (at > 0) expect(progress).toBeGreaterThan(reports[at - 1]?.progress ?? 0);
}

describe('run_agent', () => {
  test('reports progress to a client that requests it, and answers when the execution has ended', async () => {
    verifies('mcp.progress');
    const workspace = await createGatewayWorkspace(deps);
    const sink = await startHttpSink();
    const agentflow_id = await promotedFlow(workspace, [], [`${sink.url}/held`]);
    const call = { name: 'run_agent', arguments: { agentflow_id, goal: 'say hello' } };
    const legacy = [(await connect(workspace.apiKey)).client, await connectSse(workspace.apiKey)];
    const modern = await connectModern(workspace.apiKey);
    const callers = [
      ...legacy.map(
        (client) => (onprogress: (report: Report) => void) => client.callTool(call, undefined, { onprogress }),
      ),
      (onprogress: (report: Report) => void) => modern.callTool(call, { onprogress }),
    ];
    for (const client of [...legacy, modern]) await client.listTools();
    for (const callWith of callers) {
      const release = sink.hold('/');
      const reports: Report[] = [];
      const running = callWith((report) => void reports.push(report));
      await eventually(() =>
        expect(reports.at(-1)).toMatchObject({
          total: 2,
          message: expect.stringMatching(/^execution .*: running, 1 of 2 agents done$/),
        }),
      );
      release();
      expect((await running).structuredContent).toMatchObject({
        status: 'completed',
        execution_id: expect.any(String),
      });
      expectGrowing(reports);
      expect(reports.at(-1)?.progress).toBeGreaterThan(1);
    }
    await sink.close();
  });

  test('answers other clients immediately', async () => {
    const workspace = await createGatewayWorkspace(deps);
    const agentflow_id = await promotedFlow(workspace, []);
    const { client } = await connect(workspace.apiKey);
    const result = await client.callTool({ name: 'run_agent', arguments: { agentflow_id, goal: 'say hello' } });
    expect(result.structuredContent).toMatchObject({ status: 'ready' });
    const unpromoted = await workspace.api.post(`/agentflow?projectID=${workspace.projectID}`, flowThatCalls([]));
    const refused = await client.callTool({
      name: 'run_agent',
      arguments: { agentflow_id: unpromoted.body._id, goal: 'x' },
    });
    expect(refused).toMatchObject({ isError: true });
    expect(textOf(refused)).toMatchObject({ error: 'conflict', lifecycle_id: expect.any(String) });
  });
});

describe('wait_for_execution', () => {
  test('counts as one call of the quota', async () => {
    verifies('mcp.progress');
    const workspace = await createGatewayWorkspace(deps);
    const sink = await startHttpSink();
    const release = sink.hold('/');
    const agentflow_id = await promotedFlow(workspace, [`${sink.url}/held`]);
    const { client } = await connect(workspace.apiKey);
    await client.listTools();
    const { execution_id } = (await client.callTool({ name: 'run_agent', arguments: { agentflow_id, goal: 'x' } }))
      .structuredContent as any;
    const early = await client.callTool({
      name: 'wait_for_execution',
      arguments: { execution_id, timeout_seconds: 1 },
    });
    expect(early.structuredContent).toMatchObject({ ended: false, execution: { execution_id } });
    await eventually(() => expect(sink.requests.length).toBeGreaterThan(0));
    const used = async () =>
      (await workspace.gateway.post('/v1/docs', { topic: 'governance' })).body.quota.project_window_used as number;
    const before = await used();
    const waited = await client.callTool({ name: 'wait_for_execution', arguments: { execution_id } }, undefined, {
      onprogress: release,
    });
    expect(waited.structuredContent).toMatchObject({
      ended: true,
      execution: { execution_id, status: 'completed', conclusion: expect.anything() },
    });
    // The wait counts as one call. Of the two reads of the quota, the first counts in both results.
    expect((await used()) - before).toBe(2);
    await sink.close();
  });

  test('ends when the credential is revoked meanwhile', async () => {
    verifies('mcp.tools.refusal');
    const workspace = await createGatewayWorkspace(deps);
    const { execution_id } = await prepareExecution(workspace, flowThatCalls([]));
    const { client } = await connect(workspace.apiKey);
    let waits = false;
    const waiting = client.callTool({ name: 'wait_for_execution', arguments: { execution_id } }, undefined, {
      onprogress: () => (waits = true),
    });
    await eventually(() => expect(waits).toBe(true));
    await deps.mongo.collections.api_keys.updateOne({ _id: sha256Hex(workspace.apiKey) }, { $set: { revoked_at: 1 } });
    const result = await waiting;
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toMatchObject({ error: 'invalid_token', lifecycle_id: expect.any(String) });
  });

  test('refuses like the pipeline', async () => {
    const workspace = await createGatewayWorkspace(deps);
    const { client } = await connect(workspace.apiKey);
    const unknown = await client.callTool({ name: 'wait_for_execution', arguments: { execution_id: 'nothing' } });
    expect(textOf(unknown)).toMatchObject({ error: 'not_found', lifecycle_id: expect.any(String) });
    const wrong = await client.callTool({
      name: 'wait_for_execution',
      arguments: { execution_id: 'nothing', timeout_seconds: 3000 },
    });
    expect(textOf(wrong)).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringMatching(/^timeout_seconds: /),
      lifecycle_id: expect.any(String),
    });
    expect((await stagesOf(workspace.gateway, textOf(wrong).lifecycle_id)).at(-1)).toBe('S4:validate-input!');
    const move = await client.callTool({
      name: 'wait_for_execution',
      arguments: { execution_id: 'nothing', operation: 'cancel' },
    });
    expect(textOf(move)).toMatchObject({ error: 'invalid_request' });
  });
});
