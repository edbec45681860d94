import { describe, expect, test } from '@jest/globals';
import { createRequestLimit } from '../../src/governance/request-limit.js';
import { newId } from '../../src/base/ids.js';
import { apiClient } from '../support/client.js';
import { openEventStream } from '../support/event-stream.js';
import { eventually } from '../support/eventually.js';
import { prepareExecution } from '../support/executions.js';
import { createKey, createWorkspace, personOf, useDeps } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { useOwnApp } from '../support/own-app.js';
import { refusal } from '../support/refusal.js';
import { verifies } from '../support/verifies.js';

const few = { PLATFORM_RATE_MAX: '5', PLATFORM_RATE_ORG_MAX: '8', PLATFORM_RATE_WINDOW_SECONDS: '3600' };
const [one, two] = [useOwnApp(few), useOwnApp(few)];
const streams = useOwnApp({ STREAMS_PER_ORGANIZATION: '2' });
const deps = useDeps();
const statuses = (answers: { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

describe('requests to the platform API', () => {
  test('are limited for a key and for an organization, exactly across two processes, with Retry-After', async () => {
    verifies('http.request-limit');
    const workspace = await createWorkspace(deps);
    const secrets = await Promise.all([createKey(deps, workspace), createKey(deps, workspace)]);
    const send = async (secret: string, times: number) =>
      Promise.all(
        Array.from({ length: times }, (_, at) =>
          apiClient((at % 2 ? one : two).url(), { 'x-api-key': secret }).get('/v1/project'),
        ),
      );
    // The first request creates the counters: concurrent upserts may count one request twice, and so admit fewer.
    expect(statuses(await send(secrets[0] ?? '', 1), 200)).toBe(1);
    const first = await send(secrets[0] ?? '', 11);
    expect([statuses(first, 200), statuses(first, 429)]).toEqual([4, 7]);
    const refused = first.find(({ status }) => status === 429);
    expect(refused).toMatchObject(refusal(429, 'too_many_requests', 'credential'));
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(statuses(await send(secrets[1] ?? '', 1), 200)).toBe(1);
    const second = await send(secrets[1] ?? '', 5);
    expect([statuses(second, 200), statuses(second, 429)]).toEqual([2, 3]);
    expect(second.find(({ status }) => status === 429)).toMatchObject(
      refusal(429, 'too_many_requests', 'organization'),
    );
    const person = await personOf(deps, workspace, { url: one.url() });
    expect(await person.get('/v1/audit')).toMatchObject(refusal(429, 'too_many_requests', 'organization'));
  });

  test('count also if the caller may not make them', async () => {
    verifies('http.request-limit');
    const workspace = await createWorkspace(deps);
    const powerless = await createKey(deps, workspace, { grants: ['svc:docs.read'] });
    const client = apiClient(one.url(), { 'x-api-key': powerless });
    const answers: number[] = [];
    for (let at = 0; at < 7; at += 1) answers.push((await client.post('/tag', { name: 'refused' })).status);
    expect(answers).toEqual([403, 403, 403, 403, 403, 429, 429]);
  });

  test('reserve parts of a window and never exceed it; 0 means unlimited', async () => {
    verifies('http.request-limit');
    const { collections } = deps.mongo;
    const limit = () =>
      createRequestLimit(collections, { credentialMax: 250, organizationMax: 0, windowSeconds: 3600 });
    const [here, there] = [limit(), limit()];
    const principal = { userId: newId(), organizationId: newId() };
    const results = await Promise.allSettled(
      Array.from({ length: 400 }, (_, at) => (at % 2 ? here : there).admit(principal)),
    );
    const admitted = results.filter(({ status }) => status === 'fulfilled').length;
    expect(admitted).toBe(250);
    const counters = await collections.request_counters.find({ _id: { $regex: principal.userId } }).toArray();
    expect(counters).toHaveLength(1);
    expect(await collections.request_counters.countDocuments({ _id: { $regex: principal.organizationId } })).toBe(0);
  });
});

describe('event streams', () => {
  const open = async (secret: string, id: string) =>
    openEventStream(`${streams.url()}/execute_flow/${id}/events`, { 'x-api-key': secret });

  test('end when their key is revoked', async () => {
    verifies('http.streams.recheck');
    const workspace = await createWorkspace(deps);
    const { execution_id: id } = await prepareExecution(workspace, flowThatCalls(['http://127.0.0.1:9/never']));
    const stream = await open(workspace.apiKey, id);
    expect(stream.status).toBe(200);
    await deps.mongo.collections.api_keys.updateOne(
      { 'scope.project_id': workspace.projectID },
      { $set: { revoked_at: 1 } },
    );
    await stream.ended;
    expect((await open(workspace.apiKey, id)).status).toBe(401);
  });

  test('of one organization are limited, and closing one frees its place', async () => {
    verifies('http.open-streams');
    const workspace = await createWorkspace(deps);
    const { execution_id: id } = await prepareExecution(workspace, flowThatCalls(['http://127.0.0.1:9/never']));
    const held = [await open(workspace.apiKey, id), await open(workspace.apiKey, id)];
    const refused = await open(workspace.apiKey, id);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
    held[0]?.leave();
    const opened = await eventually(async () => {
      const stream = await open(workspace.apiKey, id);
      expect(stream.status).toBe(200);
      return stream;
    });
    opened.leave();
    held[1]?.leave();
  });
});

test('the large body of a tool call is read only with a valid credential', async () => {
  verifies('gateway.authenticate-before-body');
  const huge = `{"query": "${'x'.repeat(100_000)}`;
  const answer = await apiClient(one.url(), {
    authorization: 'Bearer svc_sk_unknown',
    'content-type': 'application/json',
  }).post('/v1/query-context', huge);
  expect(answer).toMatchObject(refusal(401, 'invalid_token'));
  const { apiKey } = await createWorkspace(deps);
  const known = await apiClient(one.url(), {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
  }).post('/v1/query-context', huge);
  expect(known).toMatchObject(refusal(400, 'invalid_request', 'JSON'));
});
