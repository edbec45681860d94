import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { newId } from '../../../src/base/ids.js';
import { apiClient } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { prepareExecution } from '../../support/executions.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { createGatewayWorkspace } from '../../support/gateway.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();

function logLines(): any[] {
  const text = readFileSync(path.join(testRun().logs, 'api.log'), 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

const linesOf = (requestId: string) => logLines().filter((line) => line.req?.id === requestId);

describe('every answer', () => {
  test('has the X-Request-Id of the log lines of its request', async () => {
    verifies('service.request-id');
    const { api } = await createWorkspace(deps);
    const answers = [
      await api.get('/agentflow'),
      await api.get(`/execute_flow/${newId()}`),
      await api.get('/nothing'),
      await api.put('/agentflow', {}),
      await api.post('/execute_flow', '{'),
      await apiClient(api.url).get('/agentflow'),
      await api.get('/readyz'),
      await api.get('/openapi.json'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 405, 400, 401, 200, 200]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id') ?? '');
    expect(new Set(ids).size).toBe(answers.length);
    for (const id of ids) await eventually(() => expect(linesOf(id).length).toBeGreaterThan(0));
  });

  test('keeps only a valid request id of the caller', async () => {
    verifies('service.request-id');
    const { api } = await createWorkspace(deps);
    const mine = `caller-${newId()}`;
    expect((await api.get('/agentflow', { 'x-request-id': mine })).headers.get('x-request-id')).toBe(mine);
    for (const odd of ['a b', '<script>', 'x'.repeat(200), '{"a":1}']) {
      const id = (await api.get('/agentflow', { 'x-request-id': odd })).headers.get('x-request-id');
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe('an unexpected fault', () => {
  test('is answered 500 with a generic text, and the log has the cause', async () => {
    verifies('service.errors-generic');
    const workspace = await createWorkspace(deps);
    const { _id } = await prepareExecution(workspace, flowThatCalls([]));
    await deps.mongo.collections.executions.updateOne(
      { _id },
      { $unset: { goal: '' }, $set: { status: 'broken inside' as never } },
    );
    const answer = await workspace.api.get(`/execute_flow/${_id}`);
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      error: 'internal_error',
      error_description: 'the server failed to answer this request',
    });
    const lines = await eventually(() => {
      const found = linesOf(answer.headers.get('x-request-id') ?? '').filter((line) => line.level >= 50 && line.err);
      expect(found.length).toBeGreaterThan(0);
      return found;
    });
    expect(JSON.stringify(lines)).toMatch(/goal|status/);
    expect(lines[0].err.stack).toContain('at ');
  });
});

describe('a query that reaches its time limit', () => {
  test('is logged as a warning, because the product has no fault', async () => {
    verifies('gateway.query.slow');
    const { gateway } = await createGatewayWorkspace(deps);
    const entities = Array.from({ length: 60 }, (_, at) => ({ id: `n${at}`, type: 'Node', name: `n${at}` }));
    await gateway.post('/v1/save-context', { source: 's', entities });
    const query = 'MATCH (a), (b), (c), (d), (e) WHERE a.project_id = $project_id RETURN count(*) AS all';
    const { status, headers } = await gateway.post('/v1/query-context', { query, timeout_ms: 300 });
    expect(status).toBe(504);
    const levels = await eventually(() => {
      const found = linesOf(headers.get('x-request-id') ?? '').filter((line) => line.err);
      expect(found).not.toEqual([]);
      return found.map((line) => line.level);
    });
    expect(levels).toEqual([40]);
  });
});

describe('logs', () => {
  test('are JSON lines without readable credentials', async () => {
    verifies('service.logs-redacted');
    const { api, apiKey } = await createWorkspace(deps);
    const secret = `hidden-${newId()}`;
    const headers = {
      authorization: `Bearer ${secret}`,
      cookie: `session=${secret}`,
      'x-server-key': secret,
      'x-resume-token': secret,
    };
    const { headers: answered } = await api.get('/agentflow', headers);
    await api.post('/execute_flow', { password: secret, token: secret, api_key: secret }, headers);
    await apiClient(api.url, { 'x-api-key': secret }).get('/agentflow');
    const id = answered.get('x-request-id') ?? '';
    await eventually(() => expect(linesOf(id).length).toBeGreaterThan(0));
    const text = readFileSync(path.join(testRun().logs, 'api.log'), 'utf8');
    for (const hidden of [secret, apiKey, apiKey.slice('svc_sk_'.length)]) expect(text).not.toContain(hidden);
    // No headers are logged at all, so that no secret in a header can be forgotten.
    expect(linesOf(id)[0]).toMatchObject({ req: { id, method: 'GET', url: '/agentflow' }, res: { statusCode: 200 } });
    expect(JSON.stringify(linesOf(id))).not.toContain('headers');
    expect(() => logLines()).not.toThrow();
  });
});
