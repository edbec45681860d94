import { beforeAll, expect } from '@jest/globals';
import type { Deps } from '../../src/domain/deps.js';
import { createWorkspace, type Workspace } from './fixture.js';
import { flowThatCalls } from './flows.js';
import { ownProduct, type OwnProduct } from './own-product.js';
import type { Api, ProductProcess } from './processes.js';

/** An API with its own downstream listener, a worker, and a workspace with an agentflow that triggers may start. */
export interface CallbackProduct {
  product: OwnProduct;
  /** A test that kills one of the processes stores its successor here. */
  api: Api;
  worker: ProductProcess;
  workspace: Workspace;
  agentflowId: string;
  connectorOf(category: string, fields?: object): Promise<any>;
  post(path: string, body?: string | Buffer, type?: string): Promise<{ status: number; body: any }>;
  executionsOf(filter?: object): Promise<any[]>;
}

export function useCallbackProduct(deps: Deps): CallbackProduct {
  const own = {
    product: ownProduct({ DOWNSTREAM_PORT: '0' }),
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
      const answer = await fetch(own.api.url + path, init);
      return { status: answer.status, body: await answer.json() };
    },
    executionsOf: (filter = {}) =>
      deps.mongo.collections.executions.find({ projectID: own.workspace.projectID, ...filter }).toArray(),
  } as CallbackProduct;
  beforeAll(async () => {
    const made = await createWorkspace(deps);
    [own.api, own.worker] = await Promise.all([own.product.api(), own.product.worker()]);
    own.workspace = own.product.through(own.api, made);
    const flow = await own.workspace.api.post(`/agentflow?projectID=${made.projectID}`, flowThatCalls([]));
    own.agentflowId = flow.body._id;
  });
  return own;
}
