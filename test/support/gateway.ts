import { apiClient, type ApiClient } from './client.js';
import { createWorkspace, personOf, type Workspace, type WorkspaceOptions } from './fixture.js';
import type { Deps } from '../../src/domain/deps.js';
import { newId } from '../../src/base/ids.js';
import { testRun } from './run.js';

export interface GatewayWorkspace extends Workspace {
  /** The gateway with this workspace's key as bearer. */
  gateway: ApiClient;
}

export async function createGatewayWorkspace(deps: Deps, options: WorkspaceOptions = {}): Promise<GatewayWorkspace> {
  const workspace = await createWorkspace(deps, options);
  return { ...workspace, gateway: bearerClient(workspace.apiKey, options.url) };
}

export function bearerClient(credential: string, url: string = testRun().url): ApiClient {
  return apiClient(url, { authorization: `Bearer ${credential}` });
}

/** Another person of the same project, with a user token. */
export async function colleagueOf(
  deps: Deps,
  workspace: Workspace,
  options: { role?: string; url?: string } = {},
): Promise<ApiClient> {
  return personOf(deps, workspace, { ...options, userId: newId() });
}

interface Lifecycle {
  lifecycle_id: string;
  tool: string;
  status: string;
  stages: { stage: string; status: 'ok' | 'failed'; detail: string }[];
}

/** The stages of a call, with the refusing one as `stage!`. */
export async function stagesOf(gateway: ApiClient, lifecycleId: string): Promise<string[]> {
  const { body } = (await gateway.get(`/v1/lifecycles/${lifecycleId}`)) as { body: Lifecycle };
  return body.stages.map(({ stage, status }) => (status === 'ok' ? stage : `${stage}!`));
}
