import { expect } from '@jest/globals';
import type { Answer } from '../../../support/client.js';
import type { Workspace } from '../../../support/fixture.js';

type Member = Pick<Workspace, 'api'>;

/** An agentflow that returns `v`, so that a run shows which release it has taken. */
export const returning = (v: number | string) => ({
  name: 'Returns',
  initialAgent: 'end',
  steps: [{ _id: 'end', type: 'set', values: { v: JSON.stringify(v) } }],
});

export async function create({ api }: Member, flow: object): Promise<string> {
  const made = await api.post('/agentflow', flow);
  expect(made).toMatchObject({ status: 201 });
  return made.body._id;
}

export async function edit({ api }: Member, id: string, change: object): Promise<void> {
  expect(await api.patch(`/agentflow/${id}`, change)).toMatchObject({ status: 200 });
}

export async function publish({ api }: Member, id: string, body: object = {}): Promise<any> {
  const published = await api.post(`/agentflow/${id}/versions`, body);
  expect(published).toMatchObject({ status: 200 });
  return published.body;
}

/** Publishes an agentflow once for each value that its releases return. */
export async function publishEach(member: Member, id: string, values: readonly (number | string)[]): Promise<any[]> {
  const releases = [];
  for (const value of values) {
    await edit(member, id, { steps: returning(value).steps });
    releases.push(await publish(member, id));
  }
  return releases;
}

export function point({ api }: Member, id: string, channel: string, body: object): Promise<Answer> {
  return api.put(`/agentflow/${id}/channels/${channel}`, body);
}

export async function pointed(member: Member, id: string, channel: string, body: object): Promise<any> {
  const answer = await point(member, id, channel, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}
