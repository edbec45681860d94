import { describe, expect, test } from '@jest/globals';
import { useDeps } from '../../support/fixture.js';
import { eventually } from '../../support/eventually.js';
import { flowThatCalls } from '../../support/flows.js';
import { createGatewayWorkspace } from '../../support/gateway.js';
import { startHttpSink } from '../../support/http-sink.js';
import { verifies } from '../../support/verifies.js';
import { createEventLog } from '../../../src/surfaces/mcp/event-log.js';
import { connect, useClients } from './clients.js';

const deps = useDeps();
useClients();

const reconnectionOptions = {
  initialReconnectionDelay: 50,
  maxReconnectionDelay: 200,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 5,
};

/** A network that can drop the stream of a tool call. Records what arrives on reopened streams. */
function lossyFetch() {
  const lose = new AbortController();
  const resumed: Promise<string>[] = [];
  const fetchIt: typeof fetch = async (url, init) => {
    const isCall = typeof init?.body === 'string' && init.body.includes('"tools/call"');
    const response = await fetch(
      url,
      isCall && init.signal ? { ...init, signal: AbortSignal.any([init.signal, lose.signal]) } : init,
    );
    if (new Headers(init?.headers).has('last-event-id')) resumed.push(response.clone().text());
    return response;
  };
  return { fetch: fetchIt, lose: () => lose.abort(), resumed };
}

describe('a stream that was interrupted during a call', () => {
  test('is resumed with Last-Event-ID without losing or repeating events', async () => {
    verifies('mcp.streamable-http.resume');
    const workspace = await createGatewayWorkspace(deps);
    const sink = await startHttpSink();
    const release = sink.hold('/');
    const { body } = await workspace.api.post(
      `/agentflow?projectID=${workspace.projectID}`,
      flowThatCalls([], [`${sink.url}/held`]),
    );
    await workspace.api.post(`/agentflow/${body._id}/promote`);
    const network = lossyFetch();
    const { client } = await connect(workspace.apiKey, { transport: { fetch: network.fetch, reconnectionOptions } });
    const reports: number[] = [];
    const call = { name: 'run_agent', arguments: { agentflow_id: body._id, goal: 'x' } };
    const running = client.callTool(call, undefined, { onprogress: ({ progress }) => void reports.push(progress) });
    await eventually(() => expect(reports.at(-1)).toBeGreaterThan(1));
    network.lose();
    release();
    expect((await running).structuredContent).toMatchObject({ status: 'completed' });
    expect(network.resumed.length).toBeGreaterThan(0);
    // Each stream ended without an abort, the last one with the response.
    expect((await Promise.all(network.resumed)).at(-1)).toContain('"result"');
    expect([...new Set(reports)].sort((one, other) => one - other)).toEqual(reports);
    await sink.close();
  });
});

describe('the event log', () => {
  const limits = { sessionBytes: 1000, totalBytes: 1500, ageMs: 100 };
  const progress = (text: string) => ({ jsonrpc: '2.0' as const, method: 'notifications/progress', params: { text } });

  async function replay(
    session: ReturnType<ReturnType<typeof createEventLog>['forSession']>,
    after: string,
  ): Promise<unknown[]> {
    const sent: unknown[] = [];
    await session.replayEventsAfter(after, { send: async (_, message) => void sent.push(message) });
    return sent;
  }

  test('replays one stream of one session, in order, from after the id', async () => {
    verifies('mcp.streamable-http.resume');
    const log = createEventLog(limits, () => 0);
    const [mine, theirs] = [log.forSession(), log.forSession()];
    const first = await mine.storeEvent('a', {} as never);
    await mine.storeEvent('b', progress('other stream'));
    await theirs.storeEvent('a', progress('other session'));
    const second = await mine.storeEvent('a', progress('one'));
    await mine.storeEvent('a', progress('two'));
    expect(await replay(mine, first)).toEqual([progress('one'), progress('two')]);
    expect(await replay(mine, second)).toEqual([progress('two')]);
    expect(mine.canResume(first)).toBe(true);
    expect(theirs.canResume(first)).toBe(false);
    expect(mine.missedToTheEnd(second)).toBeUndefined();
    const response = { jsonrpc: '2.0' as const, id: 1, result: {} };
    const last = await mine.storeEvent('a', response);
    expect(mine.canResume(last)).toBe(false);
    expect(mine.missedToTheEnd(second)?.map(({ message }) => message)).toEqual([progress('two'), response]);
    expect(mine.missedToTheEnd(last)).toBeUndefined();
    mine.expectBatches();
    expect(mine.canResume(last)).toBe(true);
    expect(mine.missedToTheEnd(second)).toBeUndefined();
    mine.close();
    await mine.storeEvent('a', progress('late'));
    expect(log.size()).toBe(1);
  });

  test('drops the oldest events if a session or all of them hold too much, and expired events', async () => {
    verifies('mcp.sessions.idle');
    let now = 0;
    const log = createEventLog(limits, () => now);
    const [mine, theirs] = [log.forSession(), log.forSession()];
    const old = await mine.storeEvent('a', progress('x'.repeat(600)));
    const kept = await mine.storeEvent('a', progress('y'.repeat(600)));
    expect(mine.canResume(old)).toBe(false);
    expect(mine.canResume(kept)).toBe(true);
    await theirs.storeEvent('a', progress('z'.repeat(900)));
    expect(mine.canResume(kept)).toBe(false);
    expect(log.size()).toBe(1);
    now = 200;
    log.sweep();
    expect(log.size()).toBe(0);
  });
});
