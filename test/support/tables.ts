import { expect } from '@jest/globals';
import type { Answer } from './client.js';
import type { Workspace } from './fixture.js';

type Member = Pick<Workspace, 'api' | 'projectID'>;

export interface TestTable {
  _id: string;
  /** `/storage/<project>/table/<table>` */
  path: string;
  connector_id: string;
  columns: any[];
  insert(records: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The answer's body; fails unless it is 200. */
  records(query?: Record<string, string>): Promise<any>;
}

/** A table of the workspace with the given columns, created over HTTP. */
export async function createTable(
  { api, projectID }: Member,
  columns: object[] = [],
  table_name = `table ${Math.random()}`,
): Promise<TestTable> {
  const made = await api.post(`/storage/${projectID}/table`, { table_name, columns });
  expect(made).toMatchObject({ status: 201 });
  const path = `/storage/${projectID}/table/${made.body._id}`;
  return {
    ...made.body,
    path,
    insert: (records, headers) => api.post(`${path}/row`, records, headers),
    async records(query = {}) {
      const answer = await api.get(`${path}/records?${new URLSearchParams(query).toString()}`);
      expect(answer).toMatchObject({ status: 200 });
      return answer.body;
    },
  };
}

/** DELETE with a body, as the specification defines it for columns. */
export async function deleteColumn(
  { api, projectID, apiKey }: Member & Pick<Workspace, 'apiKey'>,
  body: object,
  query = '',
): Promise<{ status: number; body: any }> {
  const answer = await fetch(`${api.url}/delete/column/${projectID}${query}`, {
    method: 'DELETE',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}
