import { describe, expect, test } from '@jest/globals';
import { startRequestOf } from '../../../../src/domain/executions/operations/moves.js';
import {
  agentflowExecutionType,
  cancelUpdate,
  executionWorkflowId,
  pauseUpdate,
  resumeUpdate,
  stateQuery,
} from '../../../../workflows/agentflow-execution/messages.js';
import { attributePairs } from '../../../../workflows/search-attributes.js';
import { openEventStream } from '../../../support/event-stream.js';
import { eventually } from '../../../support/eventually.js';
import {
  closedAs,
  moveExecution,
  prepareExecution,
  runOf,
  untilExecution,
  untilListed,
} from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

/** Starts a prepared execution as the API does, but with a history limit that a few steps reach. */
async function startWithTinyHistory(agents: string[][]) {
  const workspace = await createWorkspace(deps);
  const flow = flowThatCalls(...agents.map((urls) => urls.map((name) => `${sink.url}/${workspace.projectID}/${name}`)));
  const { _id } = await prepareExecution(workspace, flow, { files: [{ name: 'a.txt', content: 'The sink answers.' }] });
  const record = await deps.mongo.collections.executions.findOne({ _id });
  if (!record) throw new Error('the record is missing');
  const { input, attributes, ...options } = startRequestOf(deps, record);
  const first = await deps.temporal.client.workflow.start(agentflowExecutionType, {
    ...options,
    workflowId: executionWorkflowId(_id),
    typedSearchAttributes: attributePairs(attributes),
    memo: { execute_request: 'kept' },
    args: [{ ...input, max_history_events: 24 }],
  });
  return { workspace, id: _id as string, firstRunId: first.firstExecutionRunId, handle: runOf(deps, _id) };
}

describe('a long run', () => {
  test('continues as new and keeps outputs, state and id', async () => {
    verifies('execution.continue-as-new');
    const { workspace, id, firstRunId, handle } = await startWithTinyHistory([['a', 'b', 'c'], ['d', 'e'], ['f']]);
    const stream = await openEventStream(`${workspace.api.url}/execute_flow/${id}/events`, {
      'x-api-key': workspace.apiKey,
    });
    const ended = await untilListed(workspace, id, 'completed');
    expect(ended.agents_output.map((output: any) => output.actions.length)).toEqual([3, 2, 1]);
    const calls = sink.seen(`/${workspace.projectID}`);
    expect(calls.map((request) => request.path.split('/').at(-1))).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(body.steps.map((step: any) => step.kind)).toEqual(
      ['documents', ...'aaamaamam'].map((kind) => ({ a: 'action', m: 'model' })[kind] ?? kind),
    );
    expect(body.run_id).not.toBe(firstRunId);
    const description = await handle.describe();
    expect(description.memo).toMatchObject({ execute_request: 'kept' });
    const events = await deps.mongo.collections.execution_events.find({ execution_id: id }).sort({ seq: 1 }).toArray();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, at) => at + 1));
    expect(events.filter(({ type }) => type === 'started')).toHaveLength(1);
    await stream.ended;
    expect(stream.events.map((event) => event.id)).toEqual(events.map(({ seq }) => seq));
    await eventually(async () => {
      const found: string[] = [];
      for await (const run of deps.temporal.client.workflow.list({
        query: `WorkflowId = '${executionWorkflowId(id)}' AND AgentflowStatus = 'completed'`,
      }))
        found.push(run.runId);
      expect(found).toEqual([description.runId]);
    });
  });

  test('keeps a pause, even if signals alone fill the history, and accepts transitions afterwards', async () => {
    verifies('execution.continue-as-new');
    const { workspace, id, firstRunId, handle } = await startWithTinyHistory([['a', 'b'], ['c']]);
    const release = sink.hold(`/${workspace.projectID}/a`);
    await eventually(async () => expect((await handle.query(stateQuery)).status).toBe('running'));
    await handle.executeUpdate(pauseUpdate, { args: [{ by: 'me' }] });
    release();
    const again = { everyMs: 20 };
    await eventually(async () => {
      // The server refuses signals at the moment at which a run closes.
      await handle.signal('pause').catch(() => undefined);
      expect((await handle.describe()).runId).not.toBe(firstRunId);
    }, again);
    expect(await handle.query(stateQuery)).toMatchObject({ status: 'paused', pause: { by: 'me' } });
    await untilExecution(workspace, id, 'paused');
    await handle.executeUpdate(resumeUpdate, { args: [{}] });
    const ended = await untilListed(workspace, id, 'completed');
    expect(ended.agents_output).toMatchObject([{ actions: [{}, {}] }, { actions: [{}] }]);
  });

  test('can be cancelled at any time', async () => {
    verifies('execution.continue-as-new');
    const { workspace, id, firstRunId, handle } = await startWithTinyHistory([
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
      ['h'],
    ]);
    const release = sink.hold(`/${workspace.projectID}/g`);
    await eventually(async () => expect((await handle.describe()).runId).not.toBe(firstRunId));
    expect(await handle.executeUpdate(cancelUpdate, { args: [{ by: 'me' }] })).toMatchObject({ status: 'failed' });
    expect(await untilListed(workspace, id, 'failed')).toMatchObject({
      execution_context: { failure: { reason: 'cancelled', by: 'me' } },
    });
    expect(await closedAs(deps, id)).toBe('CANCELLED');
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 409 });
    await untilExecution(workspace, id, 'failed');
    release();
  });
});
