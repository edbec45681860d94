import { beforeAll, expect } from '@jest/globals';
import type { Deps } from '../../src/domain/deps.js';
import { createWorkspace, type Workspace } from './fixture.js';
import { flowThatCalls } from './flows.js';
import { released } from './releases.js';
import { testRun } from './run.js';

interface Callbacks {
  workspace: Workspace;
  /** A released agentflow of the workspace, which triggers may start. */
  agentflowId: string;
  connectorOf(category: string, fields?: object): Promise<any>;
  post(path: string, body?: string | Buffer, type?: string): Promise<{ status: number; body: any }>;
  executionsOf(filter?: object): Promise<any[]>;
}

/** A workspace with connectors, and the callbacks of its providers. */
export function useCallbacks(deps: Deps): Callbacks {
  const own = {
    async connectorOf(category, fields = {}) {
      const { api, projectID } = own.workspace;
      const answer = await api.post(`/actions/${category}/config?projectID=${projectID}`, {
        name: 'Office',
        ...fields,
      });
      expect(answer).toMatchObject({ status: 200 });
      return answer.body;
    },
    async post(path, body = '', type = 'application/json') {
      const init = { method: 'POST', headers: { 'content-type': type }, body: body as never };
      const answer = await fetch(testRun().url + path, init);
      return { status: answer.status, body: await answer.json() };
    },
    executionsOf: (filter = {}) =>
      deps.mongo.collections.executions.find({ projectID: own.workspace.projectID, ...filter }).toArray(),
  } as Callbacks;
  beforeAll(async () => {
    own.workspace = await createWorkspace(deps);
    const { api, projectID } = own.workspace;
    const flow = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls([]));
    own.agentflowId = await released(api, flow.body._id);
  });
  return own;
}
