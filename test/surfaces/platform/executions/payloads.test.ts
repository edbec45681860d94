import { describe, expect, test } from '@jest/globals';
import { temporal } from '@temporalio/proto';
import { closedAs, runOf, startExecution, untilExecution, untilListed } from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { actionTo, agentThatCalls, flowThatCalls } from '../../../support/flows.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

const limit = 256 * 1024;

/** The bytes of each event of the history, largest first. */
async function eventSizes(id: string): Promise<number[]> {
  const { events } = await runOf(deps, id).fetchHistory();
  const { HistoryEvent } = temporal.api.history.v1;
  return (events ?? []).map((event) => HistoryEvent.encode(event).finish().length).sort((a, b) => b - a);
}

function answerText(projectID: string, text: string): void {
  sink.answer(
    `/${projectID}`,
    (_request, res) => void res.setHeader('content-type', 'application/json').end(JSON.stringify({ text })),
  );
}

describe('payloads over 256 KiB', () => {
  test('an answer is stored outside the history and completely in the record', async () => {
    verifies('execution.large-payloads');
    const workspace = await createWorkspace(deps);
    const text = 'Antwort ☃ '.repeat(60_000);
    answerText(workspace.projectID, text);
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`], []));
    await untilExecution(workspace, id, 'completed');
    const listed = await untilListed(workspace, id, 'completed');
    expect(listed.agents_output[0].actions[0].output.text === text).toBe(true);
    expect((await eventSizes(id))[0]).toBeLessThan(limit);
  });

  test('input variables and documents are stored outside the history and reach the steps', async () => {
    verifies('execution.large-payloads');
    const workspace = await createWorkspace(deps);
    const text = 'x'.repeat(300_000);
    const action = {
      ...actionTo(`${sink.url}/${workspace.projectID}`),
      input_schema: { fields: [{ field_id: 'text' }] },
    };
    const agent = {
      ...agentThatCalls([]),
      skills: [{ _id: 's', name: 'S', initial_action_id: 'call', actions: [action] }],
    };
    const files = [{ name: 'long.txt', content: 'A sentence about the sink. '.repeat(12_000) }];
    const id = await startExecution(
      workspace,
      { name: 'Large', agents: [agent] },
      { input_variables: { text }, files },
    );
    const ended = await untilExecution(workspace, id, 'completed');
    const [call] = sink.seen(`/${workspace.projectID}`);
    expect(call?.body === JSON.stringify({ text })).toBe(true);
    expect(ended.input_variables.text === text).toBe(true);
    expect(ended.conclusion.conclusion).toContain('A sentence about the sink');
    expect((await eventSizes(id))[0]).toBeLessThan(limit);
  });

  test('a live read of a running execution returns large outputs completely', async () => {
    const workspace = await createWorkspace(deps);
    const text = 'y'.repeat(400_000);
    answerText(workspace.projectID, text);
    const release = sink.hold('/held-after-large');
    const id = await startExecution(
      workspace,
      flowThatCalls([`${sink.url}/${workspace.projectID}`], [`${sink.url}/held-after-large`]),
    );
    const running = await untilExecution(workspace, id, {
      status: 'running',
      agents_output: [{ agent_id: 'agent_1' }],
    });
    expect(running.agents_output[0].actions[0].output.text === text).toBe(true);
    release();
    await untilExecution(workspace, id, 'completed');
  });

  test('an execution with more data than a record can hold fails with that reason', async () => {
    const workspace = await createWorkspace(deps);
    answerText(workspace.projectID, 'z'.repeat(900_000));
    const url = `${sink.url}/${workspace.projectID}`;
    const id = await startExecution(workspace, flowThatCalls([url, url], [url, url]));
    const ended = await untilListed(workspace, id, 'failed');
    expect(ended.execution_context.failure).toMatchObject({
      reason: 'step_failed',
      code: 'validation_failed',
      message: expect.stringContaining('larger than'),
    });
    expect(ended.agents_output).toHaveLength(1);
    expect(await closedAs(deps, id)).toBe('FAILED');
  });
});
