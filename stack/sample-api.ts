import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Workspace } from '../src/domain/workspace/record.js';
import { packageRoot } from '../src/base/packages.js';

export interface SampleOptions {
  /** The local address of the API. */
  apiUrl: string;
  /** Its `base_url` is the public URL, which the actions of the samples call. */
  workspace: Workspace;
  log: (line: string) => void;
  signal: AbortSignal;
}

export type Call = <T>(method: string, route: string, body?: unknown) => Promise<T>;

export function caller(apiUrl: string, credential: Record<string, string>, signal: AbortSignal): Call {
  return async <T>(method: string, route: string, body?: unknown) => {
    const response = await fetch(apiUrl + route, {
      method,
      signal,
      headers: { ...credential, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`${method} ${route} answers ${response.status}: ${JSON.stringify(answer)}`);
    return answer as T;
  };
}

export function sampleFile(sample: string, name: string): string {
  return readFileSync(path.join(packageRoot, 'samples', sample, name), 'utf8');
}

/**
 * Finds or creates the agentflow of a sample, which contains the URL of this service. Does not change an agentflow for
 * another URL. `onFirst` is called before the first agentflow of this sample is created.
 */
export async function findOrCreate(
  call: Call,
  { base_url, project_id }: Workspace,
  sample: string,
  onFirst = async (): Promise<void> => undefined,
): Promise<string> {
  const wanted = JSON.parse(sampleFile(sample, 'agentflow.json').replaceAll('BASE_URL', base_url)) as { name: string };
  const list = await call<{ data: { _id: string; name: string }[] }>(
    'GET',
    `/agentflow?projectID=${project_id}&limit=200`,
  );
  const present = list.data.filter(({ name }) => name === wanted.name);
  const found = present.find((flow) => JSON.stringify(flow).includes(`"${base_url}/`));
  if (found) return found._id;
  if (present.length === 0) await onFirst();
  return (await call<{ _id: string }>('POST', `/agentflow?projectID=${project_id}`, wanted))._id;
}

/** Prepares a run of an agentflow and starts it; returns its id. */
export async function startRun(call: Call, { project_id }: Workspace, request: object): Promise<string> {
  const { execution_id } = await call<{ execution_id: string }>(
    'POST',
    `/execute_flow?projectID=${project_id}`,
    request,
  );
  await call('POST', `/execute_flow/${execution_id}/execute`, { projectID: project_id, execution_id });
  return execution_id;
}
