import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, prepareExecution, runOf, untilExecution, untilListed } from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { useRunningProduct } from '../../../support/running-product.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
/** The first worker runs no steps. */
const settings: Record<string, string> = { STEP_PATIENCE: '20', WORKER_QUEUES: 'control' };
const product = useRunningProduct(settings);

async function startFailing(status: number, body: string) {
  const workspace = product.through(await createWorkspace(deps));
  const path = `/${workspace.projectID}`;
  let fails = true;
  product.sink.answer(path, (_request, res) => {
    if (fails) res.writeHead(status, { 'content-type': 'application/json' }).end(body);
    else res.setHeader('content-type', 'application/json').end('{"ok":true}');
  });
  const { _id: id } = await prepareExecution(workspace, flowThatCalls([product.sink.url + path]));
  await moveExecution(workspace, id, 'execute');
  return { workspace, id, recover: () => (fails = false) };
}

const onFire = '{"error":"database is on fire","contact":"ada@example.com"}';

describe('a step without a worker', () => {
  test('waits for a worker without using up its patience', async () => {
    verifies('execution.steps.patience');
    const workspace = product.through(await createWorkspace(deps));
    const { _id: id } = await prepareExecution(
      workspace,
      flowThatCalls([`${product.sink.url}/${workspace.projectID}`]),
    );
    await moveExecution(workspace, id, 'execute');
    const scheduled = async () => {
      const { events } = await runOf(deps, id).fetchHistory();
      return (events ?? []).filter(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'callAction',
      );
    };
    await eventually(async () => expect((await scheduled()).length).toBeGreaterThan(1));
    delete settings.WORKER_QUEUES;
    await product.kill('worker');
    await product.start('worker');
    await untilExecution(workspace, id, 'completed');
    expect(product.requestsOf(workspace)).toHaveLength(1);
  });
});

describe('a step with a transient failure', () => {
  test.concurrent('is repeated, and the run shows what it waits for until it continues', async () => {
    verifies('execution.steps.patience', 'execution.steps.attempts');
    const { workspace, id, recover } = await startFailing(503, onFire);
    const waiting = await untilExecution(workspace, id, {
      status: 'running',
      execution_context: { waiting_for: { kind: 'step', agent_id: 'agent_1', attempts: expect.any(Number) } },
    });
    expect(waiting.execution_context.waiting_for).toMatchObject({
      step_id: 'agent_1/skill_1/action_1',
      error: expect.stringContaining('database is on fire'),
    });
    const { body: task } = await workspace.api.get(`/task/${waiting.task_id}`);
    expect(task).toMatchObject({ status: 'running', waiting_for: { kind: 'step' } });
    await eventually(async () => {
      const { body: inFlight } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
      expect(inFlight.steps[0].attempt_details.slice(0, 2)).toMatchObject(
        [1, 2].map((attempt) => ({ attempt, ended_at: expect.any(Number), error: expect.stringContaining('503') })),
      );
    });
    recover();
    const ended = await untilExecution(workspace, id, 'completed');
    expect(ended.execution_context.waiting_for).toBeUndefined();
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    const [step] = body.steps;
    expect(step.attempt_details).toHaveLength(step.attempts);
    expect(step.attempt_details.at(-1)).toMatchObject({
      attempt: step.attempts,
      error: null,
      ended_at: expect.any(Number),
    });
    for (const { started_at, ended_at } of step.attempt_details) expect(ended_at).toBeGreaterThanOrEqual(started_at);
  });

  test.concurrent('fails when its patience ends, with every attempt and the last reason, redacted', async () => {
    verifies('execution.steps.patience', 'execution.steps.attempts');
    const { workspace, id } = await startFailing(500, onFire);
    const { execution_context } = await untilListed(workspace, id, 'failed');
    const { message, code } = execution_context.failure;
    expect([code, message]).toEqual(['action_unavailable', expect.stringContaining('database is on fire')]);
    expect(message).not.toContain('ada@example.com');
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    const { status, attempts, attempt_details } = body.steps[0];
    expect(status).toBe('failed');
    expect(attempts).toBeGreaterThan(1);
    expect(attempt_details).toMatchObject(
      Array.from({ length: attempts }, (_, at) => ({ attempt: at + 1, error: expect.stringContaining('500') })),
    );
  });
});
