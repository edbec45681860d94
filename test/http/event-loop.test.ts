import { beforeAll, describe, test } from '@jest/globals';
import { createPerson } from '../auth/auth-server.js';
import { Grant } from '../../src/auth/grants.js';
import { newId } from '../../src/base/ids.js';
import { epochSeconds } from '../../src/base/time.js';
import { apiClient } from '../support/client.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { createLoopMeter, type Call } from '../support/loop-meter.js';
import { ownProduct } from '../support/own-product.js';
import type { Api } from '../support/processes.js';
import { plainParams } from '../support/tenancy-ids.js';
import { verifies } from '../support/verifies.js';
import {
  bodies,
  exampleOf,
  filled,
  forms,
  multipartBodies,
  operationsOf,
  queries,
  texts,
  values,
  withField,
  withLongArrays,
  type OpenApi,
  type Operation,
} from '../support/worst-inputs.js';
import { sizeOf } from '../requirements/full-forms.js';

// Like production: answers are not checked against their schemas. Without a quota, so that all calls are measured.
const unlimited = { VERIFY_RESPONSES: 'false', QUOTA_PROJECT_MAX: '0', QUOTA_ORG_MAX: '0' };
const { environment, measure, count, expectNoBlock } = createLoopMeter(() => api);
const product = ownProduct({
  ...environment,
  ...unlimited,
  CATALOG_WEBHOOK_SECRET: 'measured',
  CATALOG_SERVER_KEY: 'measured',
});
const deps = useDeps();

const everyNth = Math.round(100 / sizeOf('EVENT_LOOP_PERCENT'));

let url: string;
let api: Api;
let document: OpenApi;
let workspace: Workspace;
let key: string;
let userToken: string;

beforeAll(async () => {
  api = await product.api();
  ({ url } = api);
  document = (await apiClient(url).get('/openapi.json')).body;
  workspace = await createWorkspace(deps);
  const { email, password } = await createPerson(deps, { workspace });
  userToken = (await apiClient(url).post('/v1/auth/sign-in', { email, password, project_id: workspace.projectID })).body
    .access_token;
  key = await createKey(deps, workspace, { grants: Grant.options });
}, 400_000);

function headersOf({ security }: Operation): Record<string, string> {
  if (security.some((choice) => 'apiKey' in choice)) return { 'x-api-key': key };
  return security.some((choice) => 'bearer' in choice) ? { authorization: `Bearer ${key}` } : {};
}

/** Excluded: an event stream does not end, and without the project and the key all other calls are refused. */
const leftOut = [
  'get /execute_flow/{execution_id}/events',
  'get /{projectID}/events',
  'delete /v1/project/{project_id}',
  'delete /v1/apikeys/{key_id}',
  'put /v1/policies',
  'post /v1/policies/rules',
];

function callOf(operation: Operation, name: string, body?: string): Call {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    return /^project_?id$/i.test(parameter) ? workspace.projectID : (plainParams[parameter] ?? newId());
  });
  const headers = operation.tags.includes('API keys') ? { authorization: `Bearer ${userToken}` } : headersOf(operation);
  const json = {
    ...headers,
    'content-type': 'application/json',
    ...(operation.path.includes('internal/catalog') && { 'x-server-key': 'measured' }),
  };
  return {
    name: `${operation.method.toUpperCase()} ${operation.path}: ${name}`,
    method: operation.method.toUpperCase(),
    path,
    headers: json,
    body,
  };
}

const served = () => operationsOf(document).filter(({ method, path }) => !leftOut.includes(`${method} ${path}`));

function* bodyCalls(operation: Operation): Generator<Call> {
  for (const [name, body] of Object.entries(bodies)) yield callOf(operation, name, body);
  const example = exampleOf(operation);
  if (example === undefined) return;
  for (const { field, body } of withLongArrays(example))
    yield callOf(operation, `long array in ${field}`, JSON.stringify(body));
  for (const [name, value] of Object.entries(values)) {
    for (const { field, body } of withField(example, value))
      yield callOf(operation, `${name} in ${field}`, JSON.stringify(body));
  }
  for (const { field } of withField(example, 'x')) {
    // Each text in one field of each route, and each field with one text. All combinations would take an hour.
    const names = Object.keys(texts);
    const name = names[(field.length + operation.path.length) % names.length] ?? 'mails';
    for (const put of withField(example, texts[name] ?? ''))
      if (put.field === field) yield callOf(operation, `${name} in ${field}`, JSON.stringify(put.body));
  }
}

describe('no request blocks the event loop for longer than 100 ms', () => {
  test('with any body', async () => {
    verifies('operations.event-loop');
    for (const operation of served().filter(({ requestBody }) => requestBody)) {
      let at = operation.path.length;
      for (const call of bodyCalls(operation)) if ((at += 1) % everyNth === 0) await measure(call);
    }
    expectNoBlock(0);
  }, 900_000);

  test('with any query, path and headers', async () => {
    const from = count();
    for (const operation of served().filter(({ method }, at) => method === 'get' && at % everyNth === 0)) {
      const call = callOf(operation, '');
      const names = (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'query')
        .map(({ name }) => name);
      const deep = encodeURIComponent(`${'{"and":['.repeat(1500)}${']}'.repeat(1500)}`);
      await measure({ ...call, name: `${call.name}many parameters`, path: `${call.path}?${filled('a=1&', 60_000)}` });
      for (const name of names) {
        await measure({ ...call, name: `${call.name}nested ${name}`, path: `${call.path}?${name}=${deep}` });
        await measure({
          ...call,
          name: `${call.name}long ${name}`,
          path: `${call.path}?${name}=${filled('%28a%29', 60_000)}`,
        });
      }
    }
    const anywhere = { name: 'GET /v1/project', method: 'GET', path: `/v1/project`, headers: { 'x-api-key': key } };
    await measure({ ...anywhere, name: 'a long path', path: `/${filled('a/', 60_000)}` });
    await measure({ ...anywhere, name: 'an encoded path', path: `/agentflow/${filled('%25', 60_000)}` });
    await measure({
      ...anywhere,
      name: 'many cookies',
      path: '/console',
      headers: { cookie: filled('a=b; ', 60_000) },
    });
    await measure({ ...anywhere, name: 'a long credential', headers: { 'x-api-key': filled('a', 60_000) } });
    await measure({
      ...anywhere,
      name: 'a long token',
      path: '/v1/apikeys',
      headers: { authorization: `Bearer ${filled('a.', 60_000)}` },
    });
    await measure({
      ...anywhere,
      name: 'a long workspace',
      headers: { 'x-api-key': key, 'x-service-workspace': filled('ws_', 60_000) },
    });
    expectNoBlock(from);
  }, 600_000);

  test('with any multipart body', async () => {
    verifies('operations.event-loop.forms');
    const from = count();
    const boundary = 'parts';
    for (const operation of served().filter(({ requestBody }) => requestBody?.content['multipart/form-data'])) {
      for (const [name, parts] of Object.entries(multipartBodies(boundary))) {
        const call = callOf(operation, name, parts);
        await measure({
          ...call,
          headers: { ...call.headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
        });
      }
    }
    expectNoBlock(from);
  }, 600_000);

  test('with any form or query of the authorization server and the console', async () => {
    verifies('operations.event-loop.forms');
    const from = count();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const paths = ['/oauth/authorize', '/oauth/token', '/oauth/revoke', '/console/sign-in', '/console/session'];
    for (const path of paths) {
      for (const [name, form] of Object.entries(forms)) {
        await measure({ name: `POST ${path}: ${name}`, method: 'POST', path, headers, body: form });
        // Node.js refuses longer headers.
        const query = form.slice(0, 15_000);
        await measure({ name: `GET ${path}: ${name}`, method: 'GET', path: `${path}?${query}`, headers: {} });
      }
    }
    for (const [name, body] of Object.entries(bodies)) {
      const json = { 'content-type': 'application/json' };
      await measure({ name: `register: ${name}`, method: 'POST', path: '/oauth/register', headers: json, body });
    }
    expectNoBlock(from);
  }, 600_000);

  test('with any request to the codec endpoint', async () => {
    const from = count();
    const data = filled('A', 5 * 1024 * 1024);
    const all: Record<string, string> = {
      ...bodies,
      'open brackets of 6 MB': filled('[', 6_000_000),
      'one payload': JSON.stringify({ payloads: [{ data }] }),
      'many payloads': JSON.stringify({
        payloads: Array.from({ length: 3_900 }, () => ({ metadata: { a: 'AAAA' }, data: filled('A', 1_300) })),
      }),
    };
    for (const [name, body] of Object.entries(all))
      for (const path of ['decode', 'encode'])
        for (const token of [userToken, 'nobody'])
          await measure({
            name: `${path}: ${name}, ${token === 'nobody' ? token : 'a person'}`,
            method: 'POST',
            path: `/temporal/codec/${path}`,
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            body,
          });
    expectNoBlock(from);
  }, 600_000);

  test.each(Object.entries(queries))(
    'while a query is parsed: %s',
    async (name, query) => {
      const from = count();
      // Each attempt has its own text, because the guard caches queries.
      await measure(() => ({
        name: `query-context: ${name}`,
        ...toolCall,
        headers: bearerJson(),
        body: JSON.stringify({ query: query.replace('$try', newId().replaceAll('-', '')) }),
      }));
      expectNoBlock(from);
    },
    300_000,
  );

  test.each(Object.keys(texts))(
    'while an answer is redacted: %s',
    async (name) => {
      verifies('gateway.redaction.bounded');
      const from = count();
      const input = {
        query: 'RETURN $s AS s, COUNT {(n) WHERE n.project_id=$project_id} AS c',
        params: { s: texts[name]?.slice(0, 500_000) ?? '' },
      };
      await measure({
        name: `query-context: ${name}`,
        ...toolCall,
        headers: bearerJson(),
        body: JSON.stringify(input),
        answers: 200,
      });
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'query_context', arguments: input } };
      await measure({
        name: `MCP query-context: ${name}`,
        method: 'POST',
        path: '/mcp',
        headers: await mcpSession(),
        body: JSON.stringify(call),
        answers: 200,
      });
      expectNoBlock(from);
    },
    300_000,
  );

  test('while the review of a very long text is shown', async () => {
    verifies('memory.review');
    const from = count();
    const owner = await createWorkspace(deps);
    await keepLargeMemory(owner);
    const headers = { 'x-api-key': owner.apiKey };
    await measure({ name: 'the inbox', method: 'GET', path: '/inbox', headers, answers: 200 });
    expectNoBlock(from);
  }, 300_000);
});

const toolCall = { method: 'POST', path: '/v1/query-context' };

function bearerJson(): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
}

/** The headers of a request in a new session. */
async function mcpSession(): Promise<Record<string, string>> {
  const headers = { ...bearerJson(), accept: 'application/json, text/event-stream' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'measurement', version: '1' } };
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await response.text();
  return {
    ...headers,
    'mcp-protocol-version': '2025-11-25',
    'mcp-session-id': response.headers.get('mcp-session-id') ?? '',
  };
}

/** A memory that waits for a review, with as many findings in each part as an answer of a model can contain. */
async function keepLargeMemory({ projectID, organizationId, userId }: Workspace): Promise<void> {
  const { memories, memory_parts } = deps.mongo.collections;
  const memory_id = newId();
  // The number of parts of the longest text. An answer of a model has at most a million characters.
  const parts = 34;
  const quote = { memory_id, turn: null, start: 0, end: 1 };
  const fact = { predicate: 'city', object: 'x'.repeat(3000), valid_from: 0, valid_to: null, span: quote };
  const found = {
    entities: [{ type: 'Person', name: 'Ada', aliases: [], properties: {}, spans: [quote] }],
    facts: Array.from({ length: 300 }, () => ({ subject: { type: 'Person', name: 'Ada' }, ...fact })),
  };
  await memory_parts.insertMany(
    Array.from({ length: parts }, (_, part) => {
      const _id = `${memory_id}:${part}`;
      const counts = { entities: 1, facts: 300, without_span: 0, outside_ontology: 0, wrong_time: 0, beyond_limit: 0 };
      const sealed = deps.auth.box.seal(JSON.stringify(found), _id);
      return { _id, memory_id, part, attempts: {}, found: { sealed }, is_extracted: true, counts, saved: null };
    }),
  );
  await memories.insertOne({
    ...{ _id: memory_id, project_id: projectID, organization_id: organizationId, user_id: userId, digest: '' },
    ...{ source: null, turns: { sealed: '' }, is_conversation: false, parts: [], entity_types: null, model: 'm' },
    authority: { grants: [], role: 'OWNER' },
    ...{ budget: null, review: { asked_at: epochSeconds(), until: epochSeconds() + 1000 }, wants_review: true },
    ...{ status: 'waiting', failure: null, decided_by: null, created_at: epochSeconds(), ended_at: null },
  });
}
