import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sha256Hex } from '../../../../src/base/hash.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, startExecution, untilExecution, untilListed } from '../../../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();

const waiting = (event: object = {}, change: object = {}) => ({
  name: 'Event',
  initialAgent: 'paid',
  steps: [{ _id: 'paid', type: 'wait', event: { name: 'paid', ...event }, next: 'end' }, end],
  ...change,
});
const end = { _id: 'end', type: 'set', values: { got: 'outputs.paid' } };

/** A run that waits for its event. */
async function waitingRun(flow: object = waiting()) {
  const workspace = await createWorkspace(deps);
  const id = await startExecution(workspace, flow);
  const run = await untilExecution(workspace, id, {
    status: 'running',
    execution_context: { waiting_for: { kind: 'event' } },
  });
  return { workspace, id, waiting_for: run.execution_context.waiting_for };
}

const create = ({ api }: Pick<Workspace, 'api'>, id: string, step_id: string) =>
  api.post(`/execute_flow/${id}/addresses`, { step_id });

/** Calls an address as a system without a credential. */
const call = (url: string, body?: unknown, method = 'POST') =>
  fetch(url, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
/** The address as the shared API process serves it. */
const served = ({ api }: Workspace, url: string) => api.url + new URL(url).pathname;

test('the event that a run waits for is shown', async () => {
  verifies('flow.events.shown');
  const { workspace, id, waiting_for } = await waitingRun(waiting({ deadline_seconds: 1000 }));
  const { expires_at, requested_at } = waiting_for;
  expect(waiting_for).toMatchObject({ kind: 'event', step_id: 'paid', name: 'paid' });
  expect(expires_at - requested_at).toBeCloseTo(1000, 0);
  await untilListed(workspace, id, { execution_context: { waiting_for: { kind: 'event', step_id: 'paid' } } });
  const listed = await workspace.api.get(`/${workspace.projectID}/execution_flows?waiting_for=event`);
  expect(listed.body.data).toHaveLength(1);
  await workspace.api.post(`/execute_flow/${id}/events`, { name: 'paid' });
  const run = await untilExecution(workspace, id, 'completed');
  expect(run.execution_context.waiting_for).toBeNull();
});

describe('an address', () => {
  test('ends the wait with the data of the call, whatever `match` says', async () => {
    verifies('flow.events.address');
    const { workspace, id } = await waitingRun(waiting({ match: 'event.order == 7' }));
    const created = await create(workspace, id, 'paid');
    expect(created).toMatchObject({
      status: 201,
      body: { execution_id: id, step_id: 'paid', name: 'paid', expires_at: null, url: expect.stringMatching(/wait_/) },
    });
    expect(created.headers.get('cache-control')).toBe('no-store');
    const url = served(workspace, created.body.url);
    for (const method of ['GET', 'HEAD', 'PUT']) expect((await call(url, undefined, method)).status).toBe(405);
    await untilExecution(workspace, id, 'running');
    const answer = await call(url, { amount: 5 });
    expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
    expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual({ got: { amount: 5 } });
    // A system that did not get the answer calls again.
    expect((await call(url, { amount: 6 })).status).toBe(200);
    expect((await call(`${url}x`)).status).toBe(404);
  });

  test('needs no body, and works once when it is called at the same time', async () => {
    verifies('flow.events.address');
    const { workspace, id } = await waitingRun();
    const url = served(workspace, (await create(workspace, id, 'paid')).body.url);
    const answers = await Promise.all([call(url), call(url), call(url)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual({ got: null });
    const events = await deps.mongo.collections.execution_events.countDocuments({
      execution_id: id,
      type: 'event_received',
    });
    expect(events).toBe(1);
  });

  test('takes the body of systems that send no JSON, or send it as a text', async () => {
    verifies('flow.events.address');
    const cases = [
      [
        'application/x-www-form-urlencoded',
        'From=%2B41&Body=yes+please&Media=a&Media=b',
        { From: '+41', Body: 'yes please', Media: ['a', 'b'] },
      ],
      ['text/plain; charset=UTF-8', '{"Type":"Notification"}', { Type: 'Notification' }],
      ['text/plain', '[WARN] disk 1, disk 2', '[WARN] disk 1, disk 2'],
      ['application/xml', '<paid/>', '<paid/>'],
      ['application/vnd.events+json', '5', 5],
      ['', 'paid', 'paid'],
      ['text/plain', '', null],
    ] as const;
    const workspace = await createWorkspace(deps);
    const step = ({ at }: { at: number }) => ({
      _id: `w${at}`,
      type: 'wait',
      event: { name: 'paid' },
      next: at + 1 < cases.length ? `w${at + 1}` : 'all',
    });
    const steps = [...cases.map((_, at) => step({ at })), { _id: 'all', type: 'set', values: { all: 'outputs' } }];
    const id = await startExecution(workspace, { name: 'All', initialAgent: 'w0', steps });
    for (const [at, [type, body]] of cases.entries()) {
      const url = await eventually(async () => {
        const created = await create(workspace, id, `w${at}`);
        expect(created.status).toBe(201);
        return served(workspace, created.body.url);
      });
      const post = (contentType: string, text: string | Uint8Array<ArrayBuffer>) =>
        fetch(url, {
          method: 'POST',
          headers: contentType === '' ? {} : { 'content-type': contentType },
          body: typeof text === 'string' ? Buffer.from(text) : text,
        });
      for (const [wrong, text] of [
        ['application/json', '{'],
        ['application/octet-stream', 'x'],
        ['multipart/form-data; boundary=x', '--x--'],
        ['text/plain', Uint8Array.of(0xff)],
        ['text/plain', 'a\0b'],
        ['application/x-www-form-urlencoded', '__proto__=x'],
        ['application/x-www-form-urlencoded', 'a&'.repeat(101)],
      ] as const)
        expect([wrong, (await post(wrong, text)).status]).toEqual([wrong, 400]);
      expect([type, (await post(type, body)).status]).toEqual([type, 200]);
    }
    const { all } = (await untilExecution(workspace, id, 'completed')).conclusion.output;
    expect(Object.values(all)).toEqual(cases.map(([, , data]) => data));
  });

  test('ends the wait of its own path only', async () => {
    verifies('flow.events.address');
    const each = {
      name: 'Each',
      initialAgent: 'each',
      steps: [
        { _id: 'each', type: 'map', items: '["a", "b"]', first: 'paid' },
        { _id: 'paid', type: 'wait', event: { name: 'paid' } },
      ],
    };
    const { workspace, id } = await waitingRun(each);
    const second = await eventually(async () => {
      const created = await create(workspace, id, 'each/1/paid');
      expect(created.status).toBe(201);
      return created.body.url;
    });
    const first = (await create(workspace, id, 'each/0/paid')).body.url;
    expect((await call(served(workspace, second), 2)).status).toBe(200);
    expect((await call(served(workspace, first), 1)).status).toBe(200);
    expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual([1, 2]);
  });

  test('ends with the wait, and with the rights of the person who created it', async () => {
    verifies('flow.events.address');
    const { workspace, id } = await waitingRun();
    const url = served(workspace, (await create(workspace, id, 'paid')).body.url);
    await deps.mongo.collections.api_keys.updateMany(
      { 'scope.project_id': workspace.projectID },
      { $set: { revoked_at: 1 } },
    );
    expect((await call(url)).status).toBe(403);
    const person = await personOf(deps, workspace);
    const other = served(workspace, (await create({ api: person }, id, 'paid')).body.url);
    expect(await person.post(`/execute_flow/${id}/events`, { name: 'paid' })).toMatchObject({ status: 200 });
    await eventually(async () => expect((await person.get(`/execute_flow/${id}`)).body.status).toBe('completed'));
    expect((await call(other)).status).toBe(409);
    expect(await create({ api: person }, id, 'paid')).toMatchObject(refusal(409, 'conflict', 'waits for an event'));
  });

  test('is for a step that waits, and is governed', async () => {
    verifies('flow.events.address');
    const { workspace, id } = await waitingRun();
    expect(await create(workspace, id, 'end')).toMatchObject(refusal(409, 'conflict', 'no step "end" waits'));
    const stranger = await createWorkspace(deps);
    expect(await create(stranger, id, 'paid')).toMatchObject({ status: 404 });
    const url = served(workspace, (await create(workspace, id, 'paid')).body.url);
    const admin = await personOf(deps, workspace, { role: 'ORG_ADMIN' });
    const rules = [
      { policy_id: 'permit', effect: 'permit' },
      { policy_id: 'closed', effect: 'forbid', tools: ['execution.event', 'execution.create-address'] },
    ];
    expect(await admin.put('/v1/policies', { policies: rules })).toMatchObject({ status: 200 });
    expect((await call(url)).status).toBe(403);
    expect(await create(workspace, id, 'paid')).toMatchObject({ status: 403 });
    expect(await admin.put('/v1/policies', { policies: rules.slice(0, 1) })).toMatchObject({ status: 200 });
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    expect((await call(url, 'later')).status).toBe(200);
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual({ got: 'later' });
    const lifecycles = await deps.mongo.collections.lifecycles
      .find({ project_id: workspace.projectID, tool: 'execution.event' })
      .toArray();
    expect(lifecycles.map(({ status }) => status).sort()).toEqual(['completed', 'denied']);
  });

  test('is neither stored nor logged', async () => {
    verifies('flow.events.address');
    const { workspace, id } = await waitingRun();
    const url = served(workspace, (await create(workspace, id, 'paid')).body.url);
    const secret = url.split('/').at(-1) ?? '';
    const marked = { 'x-request-id': `address-${id}` };
    for (const method of ['GET', 'POST']) await fetch(url, { method, headers: marked });
    const stored = await deps.mongo.collections.wait_addresses.find({ execution_id: id }).toArray();
    expect(stored.map(({ _id }) => _id)).toEqual([sha256Hex(secret)]);
    expect(JSON.stringify(stored)).not.toContain(secret);
    const log = await eventually(() => {
      const text = readFileSync(path.join(testRun().logs, 'api.log'), 'utf8');
      expect(text.split('\n').filter((line) => line.includes(marked['x-request-id'])).length).toBeGreaterThan(1);
      return text;
    });
    expect(log).toContain('/resume/[address]');
    expect(log).not.toContain(secret);
  });
});
