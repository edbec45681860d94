import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { startHttpSink, type HttpSink } from '../../support/http-sink.js';

const deps = useDeps();
let sink: HttpSink;
beforeAll(async () => {
  sink = await startHttpSink();
});
afterAll(() => sink.close());

describe('agentflowExecution', () => {
  test('runs every agent and ends completed with a conclusion', async () => {
    const { api, projectID } = await createWorkspace(deps);
    const flow = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls([`${sink.url}/a`, `${sink.url}/b`], [`${sink.url}/c`]));
    expect(flow).toMatchObject({ status: 201 });
    const created = await api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id: flow.body._id, goal: 'the sink' });
    expect(created).toMatchObject({ status: 201 });
    const { execution_id } = created.body;
    const started = await api.post(`/execute_flow/${execution_id}/execute`, { execution_id, projectID });
    expect(started).toMatchObject({ status: 200, body: { execution_id, status: 'ready' } });
    const ended = await eventually(async () => {
      const answer = await api.get(`/execute_flow/${execution_id}`);
      expect(answer.body).toMatchObject({ status: 'completed' });
      return answer.body;
    });
    console.log(JSON.stringify(ended, null, 1));
    const m = await api.get(`/execute_flow/${execution_id}/monitoring`);
    console.log(JSON.stringify(m.body, null, 1));
  });
});
