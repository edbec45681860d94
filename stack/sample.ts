import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { packageRoot } from '../src/package-root.js';

export interface SampleOptions {
  /** Where this machine reaches the API. */
  apiUrl: string;
  /** The public address, which the sample's action calls. */
  baseUrl: string;
  projectId: string;
  apiKey: string;
  log: (line: string) => void;
  signal: AbortSignal;
}

export interface SampleResult {
  executionId: string;
  temporalUrl: string;
  conclusion: string;
}

const folder = path.join(packageRoot, 'samples/newcomer-brief');
const patienceMs = 120_000;

/** Runs the sample agentflow as any client would, over HTTP, and shows its events as they come. */
export async function runSample({ apiUrl, baseUrl, projectId, apiKey, log, signal }: SampleOptions): Promise<SampleResult> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const call = caller(apiUrl, apiKey, inTime);
  const agentflowId = await findOrCreate(call, baseUrl, projectId);
  const { execution_id } = await call<{ execution_id: string }>('POST', `/execute_flow?projectID=${projectId}`, {
    agentflow_id: agentflowId,
    goal: 'Brief a newcomer to the returns desk on the first day',
    input_variables: { audience: 'a new colleague' },
    files: [{ name: 'handbook.md', mime_type: 'text/markdown', content: readFileSync(path.join(folder, 'handbook.md'), 'utf8') }],
  });
  await call('POST', `/execute_flow/${execution_id}/execute`, { projectID: projectId, execution_id });
  await follow(`${apiUrl}/execute_flow/${execution_id}/events`, { apiKey, log, signal: inTime });
  const ended = await call<{ status: string; conclusion: { conclusion: string } | null }>('GET', `/execute_flow/${execution_id}`);
  if (ended.conclusion === null) throw new Error(`it is ${ended.status}, see ${apiUrl}/execute_flow/${execution_id}/monitoring`);
  const { temporal_ui_url } = await call<{ temporal_ui_url: string }>('GET', `/execute_flow/${execution_id}/monitoring`);
  return { executionId: execution_id, temporalUrl: temporal_ui_url, conclusion: ended.conclusion.conclusion };
}

type Call = <T>(method: string, route: string, body?: unknown) => Promise<T>;

function caller(apiUrl: string, apiKey: string, signal: AbortSignal): Call {
  return async <T>(method: string, route: string, body?: unknown) => {
    const response = await fetch(apiUrl + route, {
      method,
      signal,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`${method} ${route} answers ${response.status}: ${JSON.stringify(answer)}`);
    return answer as T;
  };
}

/** The sample's agentflow names this service's address; one made for another address is left as it is. */
async function findOrCreate(call: Call, baseUrl: string, projectId: string): Promise<string> {
  const text = readFileSync(path.join(folder, 'agentflow.json'), 'utf8').replaceAll('BASE_URL', baseUrl);
  const wanted = JSON.parse(text) as { name: string };
  const list = await call<{ data: { _id: string; name: string }[] }>('GET', `/agentflow?projectID=${projectId}&limit=200`);
  const present = list.data.find((flow) => flow.name === wanted.name && JSON.stringify(flow).includes(`${baseUrl}/v1/connection-info`));
  return (present ?? (await call<{ _id: string }>('POST', `/agentflow?projectID=${projectId}`, wanted)))._id;
}

/** Reads server-sent events until the stream ends. */
async function follow(url: string, { apiKey, log, signal }: Pick<SampleOptions, 'apiKey' | 'log' | 'signal'>): Promise<void> {
  const response = await fetch(url, { headers: { 'x-api-key': apiKey }, signal });
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
  if (type === 'step_failed') return `  FAILED ${String(data.step_id)}: ${String(data.error)}`;
  return type.startsWith('step_') || type === 'agent_completed' ? undefined : type;
}
