import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { untilExecution } from '../../../support/executions.js';
import { apiClient } from '../../../support/client.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { principalOf } from '../../../support/governance/approvals.js';
import { testRun } from '../../../support/run.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

async function savedFlow({ api, projectID }: Workspace): Promise<string> {
  const { body } = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls([`${sink.url}/${projectID}`]));
  return body._id as string;
}

async function prepareAndStart(apiKey: string, agentflow_id: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${testRun().url}/execute_flow?execute=true`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ agentflow_id, goal: 'one call' }),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}

const countOf = (agentflow_id: string) => deps.mongo.collections.executions.countDocuments({ agentflow_id });

describe('POST /execute_flow?execute=true', () => {
  test('prepares and starts a run, and waits for its end if the caller prefers to', async () => {
    verifies('execution.prepare-and-start');
    const workspace = await createWorkspace(deps);
    const id = await savedFlow(workspace);
    const started = await prepareAndStart(workspace.apiKey, id);
    expect(started).toMatchObject({ status: 201, body: { agentflow_id: id, status: 'ready' } });
    await untilExecution(workspace, started.body._id as string, 'completed');
    const waited = await prepareAndStart(workspace.apiKey, id, { prefer: 'wait=60' });
    expect(waited).toMatchObject({ status: 201, body: { agentflow_id: id, status: 'completed' } });
    expect(waited.headers.get('preference-applied')).toBe('wait=60');
  });

  test('starts one run for all repeats with the same key', async () => {
    verifies('execution.prepare-and-start');
    const workspace = await createWorkspace(deps);
    const id = await savedFlow(workspace);
    const answers = await Promise.all(
      [1, 2, 3].map(() => prepareAndStart(workspace.apiKey, id, { 'idempotency-key': 'once', prefer: 'wait=60' })),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body._id}`)).size).toBe(1);
    expect(await countOf(id)).toBe(1);
  });

  test('needs what the start needs, and prepares nothing without it', async () => {
    verifies('execution.prepare-and-start');
    const workspace = await createWorkspace(deps);
    const id = await savedFlow(workspace);
    const preparing = await createKey(deps, workspace, { grants: ['svc:orchestrate.write'] });
    expect(await prepareAndStart(preparing, id)).toMatchObject({ status: 403, body: { error: 'access_denied' } });
    const api = apiClient(testRun().url, { 'x-api-key': preparing });
    expect((await api.post('/execute_flow?execute=false', { agentflow_id: id, goal: 'only prepared' })).status).toBe(
      201,
    );
    expect((await api.post('/execute_flow?execute=yes', { agentflow_id: id, goal: 'neither' })).status).toBe(400);
    expect(await countOf(id)).toBe(1);
  });

  test('is refused by a rule about the start, and by one about the drafts that start', async () => {
    verifies('execution.prepare-and-start');
    const conditions = ['context.input.step == "start"', 'context.input.step == "start" && context.input.draft'];
    for (const when of conditions) {
      const workspace = await createWorkspace(deps);
      const { organizationId, projectID: projectId } = workspace;
      await deps.governance.policies.replace(principalOf('OWNER', { organizationId, projectId }), [
        { policy_id: 'all', description: '', effect: 'permit' },
        { policy_id: `no-start-${newId()}`, description: '', effect: 'forbid', tools: ['execution.start'], when },
      ]);
      const id = await savedFlow(workspace);
      expect([when, await prepareAndStart(workspace.apiKey, id)]).toMatchObject([when, { status: 403 }]);
      expect([when, await countOf(id)]).toEqual([when, 0]);
    }
  });
});
