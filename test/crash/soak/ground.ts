import type { Deps } from '../../../src/domain/deps.js';
import { bindRepository } from '../../../src/domain/connectors/operations/repositories.js';
import { newId } from '../../../src/base/ids.js';
import { secrets, startUpstream, type Upstream } from '../../surfaces/callbacks/harness.js';
import { startFakeCatalog, type FakeCatalog } from '../../surfaces/callbacks/fake-catalog.js';
import { createWorkspace, type Workspace } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { startHttpSink, type HttpSink } from '../../support/http-sink.js';

export const quota = { max: 20, windowSeconds: 10 };

/** The targets of the load: projects, each in its own organization, and the external servers. */
export interface Ground {
  /** Called through the gateway: by its clients, by one that always has more, and over MCP. */
  governed: Workspace;
  greedy: Workspace;
  mcp: Workspace;
  /** Where agentflows run. */
  flows: Workspace;
  agentflowId: string;
  /** Where pushes and changes of the catalog arrive. */
  synced: Workspace;
  repository: string;
  sink: HttpSink;
  upstream: Upstream;
  catalog: FakeCatalog;
  environment: Record<string, string>;
  close(): Promise<void>;
}

export async function prepareGround(deps: Deps): Promise<Ground> {
  const [sink, upstream, catalog] = await Promise.all([startHttpSink(), startUpstream(), startFakeCatalog()]);
  const [governed, greedy, mcp, flows, synced] = [
    await createWorkspace(deps),
    await createWorkspace(deps),
    await createWorkspace(deps),
    await createWorkspace(deps),
    await createWorkspace(deps),
  ];
  catalog.tables = [
    { id: 't1', name: 'orders', columns: ['id'], feeds: ['t2'] },
    { id: 't2', name: 'customers', columns: ['id'] },
  ];
  return {
    ...{ governed, greedy, mcp, flows, synced, sink, upstream, catalog },
    agentflowId: await agentflowIn(flows, sink),
    repository: await bindNewRepository(deps, synced),
    environment: {
      DOWNSTREAM_PORT: '0',
      WORKER_METRICS_PORT: '0',
      QUOTA_PROJECT_MAX: String(quota.max),
      QUOTA_WINDOW_SECONDS: String(quota.windowSeconds),
      QUOTA_ORG_MAX: '0',
      CODESYNC_WEBHOOK_SECRET: secrets.codesync,
      CATALOG_WEBHOOK_SECRET: secrets.catalog,
      CATALOG_PROJECT_ID: synced.projectID,
      CATALOG_URL: catalog.url,
      CATALOG_QUIET_WINDOW_MS: '2000',
      CATALOG_LONGEST_WAIT_MS: '5000',
      CALLBACK_DOWNSTREAM_URL: upstream.url,
    },
    close: async () => void (await Promise.all([sink.close(), upstream.close(), catalog.close()])),
  };
}

/** The target of its second action is slow, so that a worker dies during a step. */
async function agentflowIn({ api, projectID }: Workspace, sink: HttpSink): Promise<string> {
  sink.answer(
    `/${projectID}/two`,
    (_request, res) => void setTimeout(() => res.setHeader('content-type', 'application/json').end('{"ok":true}'), 500),
  );
  const url = (name: string) => `${sink.url}/${projectID}/${name}`;
  const { status, body } = await api.post(
    `/agentflow?projectID=${projectID}`,
    flowThatCalls([url('one'), url('two')], [url('three')]),
  );
  if (status !== 201) throw new Error(`the agentflow was answered ${status}`);
  return body._id as string;
}

/** The steps of that agentflow that call external servers, as their idempotency keys name them. */
export const stepsThatCall = ['agent_1/skill_1/action_1', 'agent_1/skill_1/action_2', 'agent_2/skill_1/action_1'];

async function bindNewRepository(deps: Deps, { projectID: projectId, organizationId }: Workspace): Promise<string> {
  const repository = `octo/${newId()}`;
  const binding = { repository, branch: null, projectId, organizationId, userId: 'x' };
  await bindRepository(deps.mongo.collections, deps.auth.box, binding);
  return repository;
}
