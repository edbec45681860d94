import { describe, expect, test } from '@jest/globals';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { newId } from '../../../../src/base/ids.js';
import type { Answer } from '../../../support/client.js';
import { apiClient } from '../../../support/client.js';
import { moveExecution, prepareExecution } from '../../../support/executions.js';
import { createKey, createWorkspace, useDeps } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();

async function withAgentflow() {
  const workspace = await createWorkspace(deps);
  const { body } = await workspace.api.post(`/agentflow?projectID=${workspace.projectID}`, flowThatCalls([]));
  const create = (fields: object | string, query = `?projectID=${workspace.projectID}`) =>
    workspace.api.post(
      `/execute_flow${query}`,
      typeof fields === 'string' ? fields : { agentflow_id: body._id, goal: 'g', ...fields },
    );
  const count = async () =>
    (await workspace.api.get(`/${workspace.projectID}/execution_flows`)).body.total_count as number;
  return { ...workspace, create, count };
}

function refused(answer: Answer, status: number, error: string, ...words: string[]): void {
  expect(answer).toMatchObject({ status, body: { error, error_description: expect.any(String) } });
  for (const word of words) expect(answer.body.error_description).toContain(word);
}

describe('POST /execute_flow refuses', () => {
  test('an agentflow of another project', async () => {
    verifies('platform.executions.create.unknown-agentflow');
    const { create, count } = await withAgentflow();
    const foreign = await withAgentflow();
    const other = await foreign.api.post(`/agentflow?projectID=${foreign.projectID}`, flowThatCalls([]));
    for (const agentflow_id of [newId(), 'x', other.body._id, 'a'.repeat(10_000), ''])
      refused(await create({ agentflow_id }), 404, 'not_found');
    expect(await count()).toBe(0);
  });

  test('an agentflow that cannot run: without agents, or not active', async () => {
    const { api, projectID, create, count } = await withAgentflow();
    const empty = await api.post(`/agentflow?projectID=${projectID}`, { name: 'empty' });
    refused(await create({ agentflow_id: empty.body._id }), 422, 'validation_failed', 'no agents');
    const idle = await api.post(`/agentflow?projectID=${projectID}`, { ...flowThatCalls([]), isActive: false });
    refused(await create({ agentflow_id: idle.body._id }), 422, 'validation_failed', 'not active');
    expect(await count()).toBe(0);
  });

  test('missing and wrong fields, each by name', async () => {
    verifies('platform.errors.wrong-type');
    const { create, count } = await withAgentflow();
    const wrong: [object, string][] = [
      [{ goal: undefined }, 'goal'],
      [{ goal: '' }, 'goal'],
      [{ goal: 7 }, 'goal'],
      [{ goal: 'g'.repeat(20_001) }, 'goal'],
      [{ agentflow_id: null }, 'agentflow_id'],
      [{ input_variables: [] }, 'input_variables'],
      [{ runtime_inputs: 'x' }, 'runtime_inputs'],
      [{ files: {} }, 'files'],
      [{ files: [{ name: 'a' }] }, 'files.0.content'],
      [{ files: [{ name: '', content: '' }] }, 'files.0.name'],
      [{ files: Array(51).fill({ name: 'a', content: '' }) }, 'files'],
      [{ start_from_agent_id: 1 }, 'start_from_agent_id'],
      [{ parent_execution_id: 1 }, 'parent_execution_id'],
    ];
    for (const [fields, named] of wrong) refused(await create(fields), 400, 'invalid_request', named);
    for (const body of ['[]', '"text"', '7', 'true', 'null'])
      refused(await create(body), 400, 'invalid_request', 'body');
    refused(await create({ parent_execution_id: newId() }), 404, 'not_found');
    expect(await count()).toBe(0);
  });

  test('unknown fields by name', async () => {
    verifies('platform.errors.unknown-field');
    const { create, count, ...workspace } = await withAgentflow();
    refused(
      await create({ status: 'completed', agents_output: [] }),
      400,
      'invalid_request',
      'status',
      'agents_output',
    );
    refused(await create({ files: [{ name: 'a', content: '', location: 'x' }] }), 400, 'invalid_request', 'location');
    expect(await count()).toBe(0);
    const { _id } = await prepareExecution(workspace, flowThatCalls([]));
    for (const move of ['execute', 'pause', 'resume', 'cancel'])
      refused(await moveExecution(workspace, _id, move, { status: 'x' }), 400, 'invalid_request', 'status');
    refused(await moveExecution(workspace, _id, 'execute', { reason: 'x' }), 400, 'invalid_request', 'reason');
    expect(await workspace.api.get(`/execute_flow/${_id}`)).toMatchObject({ body: { status: 'ready' } });
  });

  test('a body that is not JSON, and JSON that no record can hold', async () => {
    verifies('platform.errors.invalid-json');
    const { api, create, count } = await withAgentflow();
    for (const body of ['{', '{"goal":', 'goal=g', "{'goal': 'g'}", '\u0000'])
      refused(await create(body), 400, 'invalid_request');
    const depth = '['.repeat(70) + ']'.repeat(70);
    refused(await create(`{"goal":"g","input_variables":{"a":${depth}}}`), 400, 'invalid_request', 'nested');
    refused(await create(`{"goal":"g","input_variables":${'['.repeat(400_000)}`), 400, 'invalid_request');
    refused(await create('{"goal":"g","input_variables":{"__proto__":{"a":1}}}'), 400, 'invalid_request', '__proto__');
    refused(await create('{"goal":"a\\u0000b"}'), 400, 'invalid_request', 'NUL');
    refused(await create('{"goal":"\\ud800"}'), 400, 'invalid_request', 'Unicode');
    refused(await create({ input_variables: { 'a\0b': 1 } }), 400, 'invalid_request', 'NUL');
    refused(
      await api.post('/execute_flow', 'goal=g', { 'content-type': 'application/x-www-form-urlencoded' }),
      400,
      'invalid_request',
    );
    refused(
      await api.post('/execute_flow', '{}', { 'content-type': 'application/json; charset=koi8-r' }),
      400,
      'invalid_request',
      'must be UTF-8',
    );
    // The limit of values counts the values of UTF-8 only.
    const values = Buffer.from(`["\\"",${'1,'.repeat(40_000)}1]`, 'utf16le').toString('latin1');
    refused(
      await api.post('/execute_flow', values, { 'content-type': 'application/json; charset=utf-16le' }),
      400,
      'invalid_request',
      'must be UTF-8',
    );
    refused(
      await api.post('/execute_flow', 'no gzip', { 'content-encoding': 'gzip', 'content-type': 'application/json' }),
      400,
      'invalid_request',
      'does not match its Content-Encoding',
    );
    refused(
      await api.post('/execute_flow', '{}', { 'content-encoding': 'zip', 'content-type': 'application/json' }),
      400,
      'invalid_request',
      'must be gzip, deflate or br',
    );
    expect(await count()).toBe(0);
  });

  test('a body over 1 MiB, also compressed', async () => {
    verifies('platform.errors.too-large');
    const { api, create, count } = await withAgentflow();
    const large = JSON.stringify({ goal: 'g', input_variables: { text: 'x'.repeat(1024 * 1024) } });
    refused(await create(large), 413, 'payload_too_large');
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
    refused(await api.post('/execute_flow', gzipSync(large), headers), 413, 'payload_too_large');
    expect(await create({ input_variables: { text: 'x'.repeat(1_000_000) } })).toMatchObject({ status: 201 });
    expect(await count()).toBe(1);
  });
});

describe('identifiers in path, query and body', () => {
  test('that differ are answered 400, whatever they name', async () => {
    verifies('platform.project.agreement');
    const { create, count, ...workspace } = await withAgentflow();
    const other = newId();
    refused(await create({ projectID: other }), 400, 'invalid_request', 'projectID');
    refused(await create({ projectID: ['a'] }, ''), 400, 'invalid_request', 'projectID');
    refused(
      await create({}, `?projectID=${workspace.projectID}&projectID=${workspace.projectID}`),
      400,
      'invalid_request',
      'projectID',
    );
    refused(
      await create({}, `?projectID=${other}&projectID=${workspace.projectID}`),
      400,
      'invalid_request',
      'projectID',
    );
    const { _id } = await prepareExecution(workspace, flowThatCalls([]));
    for (const move of ['execute', 'pause', 'resume', 'cancel']) {
      refused(
        await moveExecution(workspace, _id, move, { execution_id: other }),
        400,
        'invalid_request',
        'execution_id',
      );
      refused(
        await moveExecution(workspace, _id, `${move}?projectID=${workspace.projectID}`, { projectID: other }),
        400,
        'invalid_request',
        'projectID',
      );
    }
    expect(await workspace.api.get(`/execute_flow/${_id}`)).toMatchObject({ body: { status: 'ready' } });
    expect(await count()).toBe(1);
  });

  test('of a project outside the scope of the key are answered 403 in path, query and body', async () => {
    verifies('platform.project.foreign');
    const { create, count, ...workspace } = await withAgentflow();
    const { projectID } = await createWorkspace(deps);
    const { _id } = await prepareExecution(workspace, flowThatCalls([]));
    refused(await create({}, `?projectID=${projectID}`), 403, 'access_denied');
    refused(await create({ projectID }, ''), 403, 'access_denied');
    refused(await create({ projectID: '' }, ''), 403, 'access_denied');
    refused(await workspace.api.get(`/${projectID}/execution_flows`), 403, 'access_denied');
    refused(await workspace.api.get(`/execute_flow/${_id}?projectID=${projectID}`), 403, 'access_denied');
    refused(await moveExecution(workspace, _id, 'execute', { projectID }), 403, 'access_denied');
    refused(await moveExecution(workspace, _id, `cancel?projectID=${projectID}`), 403, 'access_denied');
    expect(await workspace.api.get(`/execute_flow/${_id}`)).toMatchObject({ body: { status: 'ready' } });
    expect(await count()).toBe(1);
  });
});

describe('credentials', () => {
  test('are required: a call without x-api-key is answered 401', async () => {
    verifies('platform.auth.missing-key');
    const none = apiClient(testRun().url);
    for (const answer of [
      await none.get(`/execute_flow/${newId()}`),
      await none.post('/execute_flow', {}),
      await none.post('/execute_flow', '{'),
    ]) {
      refused(answer, 401, 'invalid_token', 'x-api-key');
    }
  });

  test('that are malformed, unknown or revoked are refused with the same answer', async () => {
    verifies('platform.auth.bad-key', 'platform.auth.keys-hashed');
    const workspace = await createWorkspace(deps);
    const revoked = await createKey(deps, workspace);
    expect(await apiClient(workspace.api.url, { 'x-api-key': revoked }).get('/agentflow')).toMatchObject({
      status: 200,
    });
    const stored = await deps.mongo.collections.api_keys.find({ 'scope.project_id': workspace.projectID }).toArray();
    expect(JSON.stringify(stored)).not.toContain(revoked.slice('svc_sk_'.length));
    await deps.mongo.collections.api_keys.updateMany(
      { 'scope.project_id': workspace.projectID },
      { $set: { revoked_at: Date.now() / 1000 } },
    );
    const keys = [
      'x',
      '',
      'svc_sk_',
      `svc_sk_${'a'.repeat(43)}`,
      revoked,
      `${revoked}a`,
      'k'.repeat(5000),
      stored[0]?._id ?? '',
    ];
    const bodies = new Set<string>();
    for (const key of keys.filter(Boolean)) {
      const answer = await apiClient(workspace.api.url, { 'x-api-key': key }).get(`/execute_flow/${newId()}`);
      refused(answer, 401, 'invalid_token');
      bodies.add(JSON.stringify(answer.body));
    }
    expect(bodies.size).toBe(1);
  });
});

describe('paths and methods', () => {
  test('that are unknown are answered 404, and a wrong method 405 with Allow', async () => {
    verifies('platform.errors.unknown-path', 'platform.errors.body');
    const { api } = await createWorkspace(deps);
    for (const path of ['/nothing', '/execute_flow/x/y/z', '/execute_flow/%E0%A4%A', '/v2/project', '/.env']) {
      const answer = await api.get(path);
      refused(answer, path.includes('%E0') ? 400 : 404, path.includes('%E0') ? 'invalid_request' : 'not_found');
    }
    const wrong = await api.put('/execute_flow', {});
    refused(wrong, 405, 'method_not_allowed');
    expect(wrong.headers.get('allow')).toBe('POST');
    refused(await api.put(`/execute_flow/${newId()}`, {}), 405, 'method_not_allowed');
  });

  test('an interrupted request is not reported as a server error', async () => {
    const { api, apiKey } = await createWorkspace(deps);
    const broken = request(`${api.url}/execute_flow`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'content-length': '1000' },
    });
    const gone = new Promise((resolve) => broken.once('error', resolve));
    broken.write('{"goal":', () => broken.destroy(new Error('broken off')));
    await gone;
    expect(await api.get('/healthz')).toMatchObject({ status: 200 });
  });
});
