import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { caller, findOrCreate, sampleFile, startRun, type SampleOptions } from './sample-api.js';

export interface SampleResult {
  executionId: string;
  temporalUrl: string;
  conclusion: string;
}

const sample = 'newcomer-brief';
const sampleTimeoutMs = 120_000;

/** Runs the sample agentflow over HTTP, like any client, and logs its events as they arrive. */
export async function runSample({ apiUrl, workspace, log, signal }: SampleOptions): Promise<SampleResult> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(sampleTimeoutMs)]);
  const credential = { 'x-api-key': workspace.api_key };
  const call = caller(apiUrl, credential, inTime);
  const executionId = await startRun(call, workspace, {
    agentflow_id: await findOrCreate(call, workspace, sample),
    goal: 'Brief a newcomer to the returns desk on the first day',
    input_variables: { audience: 'a new colleague' },
    files: [{ name: 'handbook.md', mime_type: 'text/markdown', content: sampleFile(sample, 'handbook.md') }],
  });
  await follow(`${apiUrl}/execute_flow/${executionId}/events`, { credential, log, signal: inTime });
  const ended = await call<{ status: string; conclusion: { conclusion: string } | null }>(
    'GET',
    `/execute_flow/${executionId}`,
  );
  if (ended.conclusion === null)
    throw new Error(`it is ${ended.status}, see ${apiUrl}/execute_flow/${executionId}/monitoring`);
  const { temporal_ui_url } = await call<{ temporal_ui_url: string }>('GET', `/execute_flow/${executionId}/monitoring`);
  return { executionId, temporalUrl: temporal_ui_url, conclusion: ended.conclusion.conclusion };
}

/** Reads server-sent events until the stream ends. */
async function follow(
  url: string,
  { credential, log, signal }: Pick<SampleOptions, 'log' | 'signal'> & { credential: Record<string, string> },
): Promise<void> {
  const response = await fetch(url, { headers: credential, signal });
  if (!response.ok || !response.body) throw new Error(`its events answer ${response.status}`);
  const lines = createInterface({ input: Readable.fromWeb(response.body as never), crlfDelay: Infinity });
  for await (const line of lines) {
    if (!line.startsWith('data: ')) continue;
    const event = JSON.parse(line.slice('data: '.length)) as { type: string; data: Record<string, unknown> };
    const text = lineOf(event);
    if (text !== undefined) log(`  ${text}`);
  }
}

function lineOf({ type, data }: { type: string; data: Record<string, unknown> }): string | undefined {
  if (type === 'agent_started') return `agent   ${String(data.title)}`;
  if (type === 'step_completed') return `  done  ${String(data.step_id)}`;
  if (type === 'model_delta' || type === 'step_progress') return undefined;
  if (type === 'step_failed') return `  FAILED ${String(data.step_id)}: ${String(data.error)}`;
  return type.startsWith('step_') || type === 'agent_completed' ? undefined : type;
}
