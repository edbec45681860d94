import { describe, expect, test } from '@jest/globals';
import { coworker, fired, runsOf, scheduled, soon } from '../surfaces/platform/schedules/schedules.js';
import { openEventStream } from '../support/event-stream.js';
import { eventually } from '../support/eventually.js';
import { moveExecution, prepareExecution, startExecution, untilExecution } from '../support/executions.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { useOwnTemporal } from '../support/own-temporal.js';
import { useRunningProduct } from '../support/running-product.js';
import { verifies } from '../support/verifies.js';

/** The requirement is two seconds on an idle machine. The Temporal client's own retries take longer than this. */
const atOnceMs = 8000;
const deps = useDeps();
const temporal = useOwnTemporal();
const product = useRunningProduct(temporal.environment);

/** Makes a call and measures its duration. */
async function timed<T>(call: () => Promise<T>): Promise<{ answer: T; ms: number }> {
  const begun = performance.now();
  return { answer: await call(), ms: performance.now() - begun };
}

describe('with Temporal down', () => {
  test('calls that need it are answered 503 within two seconds, others succeed, and all recover automatically', async () => {
    verifies('platform.errors.unavailable', 'platform.errors.recovers', 'service.readyz', 'service.healthz');
    const workspace = product.through(await createWorkspace(deps));
    const url = `${product.sink.url}/${workspace.projectID}`;
    const release = product.sink.hold(`/${workspace.projectID}`);
    const { _id: ready, agentflow_id } = await prepareExecution(workspace, flowThatCalls([]));
    expect(await workspace.api.post(`/agentflow/${agentflow_id}/promote`)).toMatchObject({ status: 200 });
    const running = await startExecution(workspace, flowThatCalls([url]));
    await eventually(() => expect(product.requestsOf(workspace)).toHaveLength(1));
    const stream = await openEventStream(`${workspace.api.url}/execute_flow/${running}/events`, {
      'x-api-key': workspace.apiKey,
    });
    await eventually(() => expect(stream.events).toHaveLength(3));
    await temporal.service.kill('SIGKILL');
    for (const round of ['first', 'second']) {
      const needing = [
        () => moveExecution(workspace, ready, 'execute'),
        () => moveExecution(workspace, ready, 'execute', {}, { 'idempotency-key': round }),
        () => moveExecution(workspace, ready, 'cancel'),
        () => moveExecution(workspace, running, 'pause'),
        () => moveExecution(workspace, running, 'cancel'),
        () => workspace.api.get(`/execute_flow/${running}/monitoring`),
      ];
      for (const call of needing) {
        const { answer, ms } = await timed(call);
        expect(answer).toMatchObject({
          status: 503,
          body: { error: 'unavailable', error_description: expect.any(String) },
        });
        expect(ms).toBeLessThan(atOnceMs);
      }
    }
    // No execution was prepared that cannot be started: the list below has only the two earlier executions.
    expect(
      (
        await workspace.api.post(
          '/v1/run-agent',
          { agentflow_id, goal: 'now' },
          { authorization: `Bearer ${workspace.apiKey}` },
        )
      ).status,
    ).toBeGreaterThanOrEqual(500);
    const read = await timed(() => workspace.api.get(`/execute_flow/${running}`));
    expect(read).toMatchObject({ answer: { status: 200, body: { _id: running } } });
    expect(await workspace.api.get(`/${workspace.projectID}/execution_flows`)).toMatchObject({
      status: 200,
      body: { total_count: 2 },
    });
    expect(await workspace.api.get('/healthz')).toMatchObject({ status: 200 });
    expect(await workspace.api.get('/readyz')).toMatchObject({
      status: 503,
      body: { dependencies: { temporal: 'down', mongodb: 'up' } },
    });
    await temporal.service.restart();
    await eventually(async () =>
      expect(await workspace.api.get('/readyz')).toMatchObject({
        status: 200,
        body: { dependencies: { temporal: 'up' } },
      }),
    );
    release();
    await eventually(async () => {
      const answer = await moveExecution(workspace, ready, 'execute', {}, { 'idempotency-key': 'first' });
      expect(answer).toMatchObject({ status: 200, body: { status: 'ready' } });
    });
    await untilExecution(workspace, ready, 'completed');
    await untilExecution(workspace, running, 'completed');
    await stream.ended;
    expect(stream.events.map(({ id }) => id)).toEqual(stream.events.map((_event, at) => at + 1));
    expect(stream.events.at(-1)).toMatchObject({ event: 'completed' });
  });

  test('a paused execution is still paused after a kill of worker, API and Temporal, and resumes', async () => {
    verifies('durability.paused-over-restart');
    const direct = await createWorkspace(deps);
    const url = (name: string) => `${product.sink.url}/${direct.projectID}/${name}`;
    const release = product.sink.hold(`/${direct.projectID}/one`);
    const before = product.through(direct);
    const id = await startExecution(before, flowThatCalls([url('one'), url('two')]));
    await eventually(() => expect(product.requestsOf(direct)).toHaveLength(1));
    expect(await moveExecution(before, id, 'pause')).toMatchObject({ status: 200 });
    release();
    await eventually(async () =>
      expect((await before.api.get(`/execute_flow/${id}/monitoring`)).body.steps[0].status).toBe('completed'),
    );
    await Promise.all([product.kill('api', 'worker'), temporal.service.kill('SIGKILL')]);
    await temporal.service.restart();
    await product.start('api', 'worker');
    const after = product.through(direct);
    await untilExecution(after, id, 'paused');
    await eventually(async () => {
      const { body } = await after.api.get(`/execute_flow/${id}/monitoring`);
      expect(body).toMatchObject({ status: 'paused', steps: [{ status: 'completed', attempts: 1 }] });
    });
    expect(product.requestsOf(direct)).toHaveLength(1);
    expect(await moveExecution(after, id, 'resume')).toMatchObject({ status: 200, body: { status: 'running' } });
    await untilExecution(after, id, 'completed');
    expect(product.requestsOf(direct).map((request) => request.path.split('/').at(-1))).toEqual(['one', 'two']);
  });
});

describe('a schedule', () => {
  test('makes up for missed times of an outage only within its catch-up window, and its jitter spreads the starts', async () => {
    verifies('schedule.catchup-jitter', 'schedule.once', 'schedule.reasons');
    const workspace = product.through(await createWorkspace(deps));
    const coworker_id = await coworker(workspace);
    const spread = await scheduled(workspace, { coworker_id, type: 'interval', frequency: 3600, jitter: 1800 });
    const offsets = (await runsOf(workspace, spread._id)).next.map((at: number) => (at - spread.schedule) % 3600);
    expect(new Set(offsets).size).toBeGreaterThan(5);
    expect(Math.max(...offsets)).toBeLessThanOrEqual(1800);

    const often = await scheduled(workspace, { coworker_id, type: 'interval', frequency: 2, catchup_window: 3600 });
    await eventually(async () => expect(fired(await runsOf(workspace, often._id))).not.toEqual([]));
    // Both schedules are due once, a few seconds into an outage that lasts longer than the shorter window.
    const at = soon(15);
    const [patient, strict] = await Promise.all(
      [3600, 10].map((catchup_window) =>
        scheduled(workspace, { coworker_id, type: 'once', schedule: at, catchup_window }),
      ),
    );
    await temporal.service.kill('SIGKILL');
    const end = at + 12;
    await eventually(() => expect(Date.now() / 1000).toBeGreaterThan(end), { everyMs: 250 });
    await temporal.service.restart();
    await eventually(async () =>
      expect(fired(await runsOf(workspace, patient._id))).toMatchObject([{ scheduled_for: at, status: 'completed' }]),
    );
    await eventually(async () => expect((await runsOf(workspace, strict._id)).missed_catchup).toBe(1));
    expect(fired(await runsOf(workspace, strict._id))).toEqual([]);
    // All times of the outage were due at once: one of them ran, and Temporal skipped the others.
    const ranSince = ({ scheduled_for }: any) => scheduled_for > end;
    await eventually(async () => expect(fired(await runsOf(workspace, often._id)).filter(ranSince)).not.toEqual([]));
    await workspace.api.patch(`/schedule/coworker/${often._id}`, { status: 'paused' });
    const runs = await runsOf(workspace, often._id);
    const idle = runs.data.filter(
      ({ reason, scheduled_for }: any) => reason !== null && reason !== 'paused' && scheduled_for < end,
    );
    expect(runs.missed_catchup).toBe(0);
    expect(runs.skipped_overlap).toBeGreaterThan(3);
    expect(idle.length).toBeGreaterThan(3);
    expect(idle.filter(({ reason }: any) => reason !== 'overlap')).toEqual([]);
  });
});
