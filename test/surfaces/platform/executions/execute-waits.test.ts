import { describe, expect, test } from '@jest/globals';
import { preferredWait } from '../../../../src/surfaces/platform/wait-for-run.js';
import { prepareExecution, untilExecution } from '../../../support/executions.js';
import { apiClient } from '../../../support/client.js';
import { createKey, createWorkspace, useDeps } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { testRun } from '../../../support/run.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

async function start(apiKey: string, id: string, headers: Record<string, string>, signal?: AbortSignal) {
  const answer = await fetch(`${testRun().url}/execute_flow/${id}/execute`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
    body: '{}',
    ...(signal && { signal }),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}

describe('POST /execute_flow/{execution_id}/execute with Prefer: wait', () => {
  test('answers the finished execution, also to a repeat with the same key', async () => {
    verifies('execution.execute.waits');
    const workspace = await createWorkspace(deps);
    const { _id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    const headers = { prefer: 'respond-async, wait=60', 'idempotency-key': 'once' };
    for (let at = 0; at < 2; at += 1) {
      const answer = await start(workspace.apiKey, _id, headers);
      expect(answer).toMatchObject({ status: 200, body: { execution_id: _id, status: 'completed' } });
      expect(answer.body.agents_output).toHaveLength(1);
      expect(answer.headers.get('preference-applied')).toBe('wait=60');
      expect(answer.body).toEqual((await workspace.api.get(`/execute_flow/${_id}`)).body);
    }
    expect((await start(workspace.apiKey, _id, { prefer: 'wait=60' })).status).toBe(409);
  });

  test('answers as without it if the run has not ended in time', async () => {
    verifies('execution.execute.waits');
    const workspace = await createWorkspace(deps);
    const release = sink.hold(`/${workspace.projectID}/held`);
    const { _id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}/held`]));
    const answer = await start(workspace.apiKey, _id, { prefer: 'wait=1' });
    expect(answer).toMatchObject({ status: 200, body: { execution_id: _id, status: 'ready' } });
    expect(answer.body).not.toHaveProperty('agents_output');
    expect(answer.headers.get('preference-applied')).toBe('wait=1');
    release();
    await untilExecution(workspace, _id, 'completed');
  });

  test('starts the run of a caller that disconnects, and keeps nothing of it open', async () => {
    verifies('execution.execute.waits');
    const workspace = await createWorkspace(deps);
    const release = sink.hold(`/${workspace.projectID}/left`);
    const { _id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}/left`]));
    const leaving = new AbortController();
    const left = start(workspace.apiKey, _id, { prefer: 'wait=60' }, leaving.signal);
    await untilExecution(workspace, _id, 'running');
    leaving.abort();
    await expect(left).rejects.toThrow();
    release();
    await untilExecution(workspace, _id, 'completed');
  });

  test('does not show the run to a key that may only start runs', async () => {
    verifies('execution.execute.waits');
    const workspace = await createWorkspace(deps);
    const { _id } = await prepareExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
    const key = await createKey(deps, workspace, { grants: ['svc:agent.run', 'svc:orchestrate.write'] });
    expect((await apiClient(testRun().url, { 'x-api-key': key }).get(`/execute_flow/${_id}`)).status).toBe(403);
    const answer = await start(key, _id, { prefer: 'wait=60' });
    expect(answer).toMatchObject({ status: 200, body: { execution_id: _id, status: 'ready' } });
    expect(answer.body).not.toHaveProperty('agents_output');
    await untilExecution(workspace, _id, 'completed');
  });
});

test.each([
  [undefined, undefined],
  ['', undefined],
  ['wait', undefined],
  ['wait=', undefined],
  ['wait=soon', undefined],
  ['wait=-1', undefined],
  ['respond-async', undefined],
  ['wait=0', 0],
  ['wait=30', 30],
  ['Wait = "30"', 30],
  ['respond-async, wait=10', 10],
  ['return=minimal; foo="some parameter", wait=7; bar', 7],
  ['wait=5, wait=50', 5],
  ['wait=999999999', 60],
])('Prefer: %s asks for a wait of %s seconds', (prefer, seconds) => {
  verifies('execution.execute.waits');
  expect(preferredWait(prefer)).toBe(seconds);
});
