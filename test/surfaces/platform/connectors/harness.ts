import { expect } from '@jest/globals';
import type { Workspace } from '../../../support/fixture.js';

export async function connectorOf({ api, projectID }: Workspace, category = 'restful', fields: object = {}) {
  const answer = await api.post(`/actions/${category}/config?projectID=${projectID}`, { name: 'Office', ...fields });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

/** Loads once a year, so that no load happens during a test. */
export const seldom = {
  data_loader_config: { frequency: '0 0 1 1 *', path: '/nothing' },
  config: { base_url: 'http://127.0.0.1:1' },
};
