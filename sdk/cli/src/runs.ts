import type { Client, ExecutionInput, ExecutionStreamEvent } from '../../node/src/index.js';
import { parseJson } from '../../../src/base/json.js';
import { createEventLines } from './event-line.js';
import { exitCodes, Problem } from './problem.js';
import { print, progressBar, report } from './terminal.js';

export interface RunOptions {
  goal: string;
  input?: string[];
  channel?: string;
  version?: number;
  draft?: boolean;
  wait?: boolean;
  json?: boolean;
}

/**
 * Starts a run. With `wait`, follows it to its end.
 * @param inbox the address of the inbox in the console
 * @throws Problem if the run fails
 */
export async function run(client: Client, id: string, options: RunOptions, inbox: string): Promise<void> {
  const { goal, input = [], channel, version, draft, wait = false, json = false } = options;
  const start = { ...(channel && { channel }), ...(version && { version }), ...(draft && { draft }) };
  const body = { agentflow_id: id, goal, input_variables: variablesIn(input), ...start } as ExecutionInput;
  const started = await client.call('post', '/execute_flow', { query: { execute: 'true' }, body });
  if (!wait) return print(json ? JSON.stringify(started) : started.execution_id);
  report(`run ${started.execution_id} has started`);
  const flow = await client.platform.agentflows.get(id);
  await follow(client, started.execution_id, flow.agents.length + (flow.steps ?? []).length, inbox);
  const ended = await client.platform.executions.waitForEnd(started.execution_id);
  const { status, conclusion, execution_context } = ended;
  if (json) print(JSON.stringify(ended));
  else if (status === 'completed') print(typeof conclusion === 'string' ? conclusion : JSON.stringify(conclusion));
  if (status === 'completed') return;
  const { failure } = execution_context as { failure?: { message?: string } };
  throw new Problem(
    `run ${started.execution_id} has ${status}${failure?.message ? `: ${failure.message}` : ''}`,
    exitCodes.failed,
  );
}

/** Reads `name=value`. A value that is JSON is that value, and any other one is a text. */
function variablesIn(input: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    input.map((each) => {
      const at = each.indexOf('=');
      if (at < 1) throw new Problem(`--input ${each}: must be <name>=<value>`);
      const text = each.slice(at + 1);
      return [each.slice(0, at), valueIn(text)];
    }),
  );
}

function valueIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

async function follow({ platform }: Client, id: string, total: number, inbox: string): Promise<void> {
  const lineOf = createEventLines(inbox);
  const bar = progressBar(total);
  let done = 0;
  for await (const event of platform.executions.events(id)) {
    if (event.type === 'agent_completed' || event.type === 'step_completed') done += 1;
    const line = lineOf(event);
    if (line === undefined) continue;
    bar.hide();
    report(line);
    bar.show(Math.min(done, total));
  }
  bar.hide();
}

/** Prints the events of a run. Without `isFollowed`, only those until now. */
export async function logs(
  { call, platform }: Client,
  id: string,
  { isFollowed, json }: { isFollowed: boolean; json: boolean },
  inbox: string,
): Promise<void> {
  const lineOf = createEventLines(inbox);
  const show = (event: ExecutionStreamEvent) => {
    const line = json ? JSON.stringify(event) : lineOf(event);
    if (line !== undefined) print(line);
  };
  if (isFollowed) {
    for await (const event of platform.executions.events(id)) show(event);
    return;
  }
  const { steps } = await call('get', '/execute_flow/{execution_id}/monitoring', { params: { execution_id: id } });
  for (const step of steps) print(json ? JSON.stringify(step) : stepLine(step as unknown as Record<string, unknown>));
}

function stepLine({ kind, name, status, error }: Record<string, unknown>): string {
  return [kind, name, status, error].filter((part) => typeof part === 'string' && part !== '').join(' ');
}
