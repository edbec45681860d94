import { expect } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import type { Answer } from '../../../support/client.js';
import { eventually } from '../../../support/eventually.js';
import type { Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { released } from '../../../support/releases.js';

/** A released agentflow of the workspace. Its only agent calls the given URLs in order. */
export async function coworker({ api, projectID }: Workspace, urls: string[] = []): Promise<string> {
  const made = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls(urls));
  expect(made).toMatchObject({ status: 201 });
  return released(api, made.body._id as string);
}

export function schedule(
  { api, projectID }: Workspace,
  body: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return api.post(`/schedule/coworker?projectID=${projectID}`, body, headers);
}

/** Repeats the request under the same key if the service is busy, as a careful client does. */
export async function scheduled(workspace: Workspace, body: object): Promise<any> {
  const key = { 'idempotency-key': newId() };
  return eventually(async () => {
    const made = await schedule(workspace, { goal: 'scheduled', ...body }, key);
    expect(made).toMatchObject({ status: 201 });
    return made.body;
  });
}

/** Reads the 200 newest entries, because the runs of a slow machine exceed the default page size. */
export async function runsOf({ api }: Workspace, id: string): Promise<any> {
  const answer = await api.get(`/schedule/coworker/${id}/runs?limit=200`);
  expect(answer.status).toBe(200);
  return answer.body;
}

/** Returns a whole second, the resolution of Temporal's plans. */
export const soon = (seconds: number) => Math.ceil(Date.now() / 1000 + seconds);
export const fired = (runs: any) => runs.data.filter(({ started_at }: any) => started_at !== null);
