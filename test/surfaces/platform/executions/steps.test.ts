import { describe, expect, test } from '@jest/globals';
import { connectorOf, field, run } from '../../../support/connectors.js';
import { eventually } from '../../../support/eventually.js';
import { heldExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { refusal } from '../../../support/refusal.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

const read = ({ api }: Workspace, id: string, number: number) => api.get(`/execute_flow/${id}/steps/${number}`);
const json = { 'content-type': 'application/json', 'set-cookie': 'a=cookie-s3cret', 'x-request-id': 'r1' };

describe('GET /execute_flow/{execution_id}/steps/{number}', () => {
  test('returns the prompt of a model turn, and the request and answer of an action, without secrets', async () => {
    verifies('executions.steps');
    const workspace = await createWorkspace(deps);
    const path = `/${workspace.projectID}/claims`;
    sink.answer(path, ({ headers }, res) => res.writeHead(200, json).end(JSON.stringify({ echo: headers['x-token'] })));
    const { _id } = await connectorOf(workspace, 'restful', {
      base_url: sink.url,
      auth: { type: 'header', name: 'X-Token', value: 'tkn-s3cret' },
    });
    const action = { method: 'POST', endpoint: path, input_schema: { fields: [field('claim')] } };
    const { execution_id: id } = await run(workspace, _id, [action], { claim: 'C-1042' });
    const called = await read(workspace, id, 1);
    expect(called).toMatchObject({
      status: 200,
      body: {
        execution_id: id,
        number: 1,
        step: { kind: 'action', status: 'completed', attempts: 1 },
        exchanges: [
          {
            attempt: 1,
            input: { claim: 'C-1042' },
            request: { method: 'POST', url: sink.url + path, body: { claim: 'C-1042' } },
            response: { status: 200, headers: { 'content-type': 'application/json', 'x-request-id': 'r1' } },
            output: { echo: '[secret]' },
          },
        ],
      },
    });
    const [{ started_at, ended_at, lifecycle_id, request, response }] = called.body.exchanges;
    expect(ended_at).toBeGreaterThanOrEqual(started_at);
    expect(request.headers).toHaveProperty('x-token');
    expect(response).not.toHaveProperty('body');
    const lifecycle = await deps.mongo.collections.lifecycles.findOne({ _id: lifecycle_id });
    expect(lifecycle).toMatchObject({ tool: 'act.http', act: { outcome: 'answered' } });
    const asked = await read(workspace, id, 2);
    expect(asked.body).toMatchObject({ step: { kind: 'model' }, exchanges: [{ output: { tool_calls: [] } }] });
    const { messages } = asked.body.exchanges[0].prompt;
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['system', 'user']);
    expect(messages[1].content).toContain('Tell of the sink');
    expect(messages[1].content).toContain('action_result');
    expect(JSON.stringify([called.body, asked.body])).not.toContain('s3cret');
    const stored = deps.mongo.collections.execution_exchanges.find({ _id: { $regex: `^${id}/` } });
    expect(JSON.stringify(await stored.toArray())).not.toMatch(/C-1042|s3cret|Tell of/);
    for (const wrong of [0, 3, 'x'])
      expect((await workspace.api.get(`/execute_flow/${id}/steps/${wrong}`)).status).toBeGreaterThanOrEqual(400);
    expect(await read(workspace, id, 3)).toMatchObject(refusal(404, 'not_found'));
    expect(await read(await createWorkspace(deps), id, 1)).toMatchObject(refusal(404, 'not_found'));
  });

  test('returns each attempt with the answer that made it fail, and cuts what is long', async () => {
    verifies('executions.steps');
    const workspace = await createWorkspace(deps);
    const path = `/${workspace.projectID}/busy`;
    const answers = [503, 422];
    sink.answer(path, (_request, res) =>
      res
        .writeHead(answers.shift() ?? 500, json)
        .end(JSON.stringify({ error: 'no', key: 'AKIAIOSFODNN7EXAMPLE', long: 'x'.repeat(900_000) })),
    );
    const id = await startExecution(workspace, flowThatCalls([sink.url + path]));
    await untilExecution(workspace, id, 'failed');
    const { body, status } = await read(workspace, id, 1);
    expect(status).toBe(200);
    expect(body.step).toMatchObject({ status: 'failed', attempts: 2 });
    expect(body.exchanges).toMatchObject([
      { attempt: 1, response: { status: 503 } },
      { attempt: 2, response: { status: 422 } },
    ]);
    for (const { response, output } of body.exchanges) {
      expect(output).toBeUndefined();
      expect(response.body).toContain('"error":"no"');
      expect(response.body).not.toContain('AKIAIOSFODNN7EXAMPLE');
    }
    expect(JSON.stringify(body).length).toBeLessThan(200_000);
  });

  test('shows a call that still waits for its answer', async () => {
    verifies('executions.steps');
    const { workspace, id, release } = await heldExecution(deps, sink);
    const exchange = await eventually(async () => {
      const { body } = await read(workspace, id, 1);
      expect(body.exchanges).toMatchObject([{ request: { method: 'POST' } }]);
      return body.exchanges[0];
    });
    expect(exchange).not.toHaveProperty('ended_at');
    release();
    await untilExecution(workspace, id, 'completed');
    expect((await read(workspace, id, 1)).body.exchanges).toMatchObject([{ output: { ok: true } }]);
  });
});
