import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { prepareExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { useOwnApp } from '../../../support/own-app.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const unserved = useOwnApp({ TEMPORAL_TASK_QUEUE: `nobody-${newId()}` });

describe('GET /execute_flow/{execution_id}', () => {
  test('returns the current status and outputs, with or without projectID', async () => {
    verifies('platform.executions.get');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, flowThatCalls([]));
    const ended = await untilExecution(workspace, id, 'completed');
    const named = await workspace.api.get(`/execute_flow/${id}?projectID=${workspace.projectID}`);
    expect(named).toMatchObject({ status: 200, body: ended });
  });

  test('returns no internal fields', async () => {
    const workspace = await createWorkspace(deps);
    const created = await prepareExecution(workspace, flowThatCalls([]));
    for (const hidden of ['plan', 'steps', 'organization_id', 'last_event_seq', 'started_at'])
      expect(created).not.toHaveProperty(hidden);
  });

  test('answers from the record while no worker runs', async () => {
    const workspace = await createWorkspace(deps);
    const alone = unserved.through(workspace);
    const id = await startExecution(alone, flowThatCalls([]));
    expect(await alone.api.get(`/execute_flow/${id}`)).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect(await alone.api.get(`/execute_flow/${id}/monitoring`)).toMatchObject({
      status: 200,
      body: { run_id: expect.any(String), steps: [] },
    });
    expect(await alone.api.post(`/execute_flow/${id}/execute`)).toMatchObject({ status: 409 });
    const { _id } = await prepareExecution(alone, flowThatCalls([]));
    expect(await alone.api.post(`/execute_flow/${_id}/cancel`)).toMatchObject({
      status: 200,
      body: { status: 'failed' },
    });
  });

  test("answers 404 to an unknown id, a malformed id and another project's id", async () => {
    verifies('platform.errors.malformed-id', 'platform.errors.body');
    const [mine, other] = [await createWorkspace(deps), await createWorkspace(deps)];
    const { _id } = await prepareExecution(other, flowThatCalls([]));
    const ids = [newId(), _id, 'x', '..%2f..', '%00', 'a'.repeat(5000), `${_id}x`, 'null', '{}', '0'];
    const bodies = new Set<string>();
    for (const id of ids) {
      for (const suffix of ['', '/monitoring', '/events']) {
        const answer = await mine.api.get(`/execute_flow/${id}${suffix}`);
        expect(answer).toMatchObject({
          status: 404,
          body: { error: 'not_found', error_description: expect.any(String) },
        });
        bodies.add(JSON.stringify(answer.body));
      }
      for (const move of ['execute', 'pause', 'resume', 'cancel']) {
        expect(await mine.api.post(`/execute_flow/${id}/${move}`)).toMatchObject({
          status: 404,
          body: { error: 'not_found' },
        });
      }
    }
    expect(bodies.size).toBe(1);
    expect(await other.api.get(`/execute_flow/${_id}`)).toMatchObject({ body: { status: 'ready' } });
  });
});
