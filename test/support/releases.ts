import { expect } from '@jest/globals';
import type { Workspace } from './fixture.js';

/** Releases an agentflow into production, so that schedules and triggers can start it. Returns its id. */
export async function released(api: Workspace['api'], id: string): Promise<string> {
  expect(await api.post(`/agentflow/${id}/promote`, {})).toMatchObject({ status: 200 });
  return id;
}
