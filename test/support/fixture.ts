import { afterAll } from '@jest/globals';
import { createApiKey } from '../../src/auth/api-keys.js';
import type { Grant } from '../../src/auth/grants.js';
import { loadConfig } from '../../src/config.js';
import { createDeps, type Deps } from '../../src/deps.js';
import { newId } from '../../src/ids.js';
import { epochSeconds } from '../../src/time.js';
import { apiClient, type ApiClient } from './client.js';
import { testRun } from './run.js';

export interface Workspace {
  organizationId: string;
  departmentId: string;
  projectID: string;
  userId: string;
  apiKey: string;
  /** HTTP to the shared API process with this workspace's key. */
  api: ApiClient;
}

export interface WorkspaceOptions {
  role?: string;
  grants?: readonly Grant[];
  organizationId?: string;
  url?: string;
}

/** The run's stores and clients, built as the product builds them; closed after the tests of the file. */
export function useDeps(overrides: Record<string, string> = {}): Deps {
  const deps = createDeps(loadConfig({ NODE_ENV: 'test', ...testRun().env, LOG_LEVEL: 'silent', ...overrides }), 'test');
  afterAll(() => deps.close());
  return deps;
}

/** An organization, department and project of a test's own, with an API key on it. */
export async function createWorkspace(deps: Deps, options: WorkspaceOptions = {}): Promise<Workspace> {
  const organizationId = options.organizationId ?? newId();
  const departmentId = newId();
  const userId = newId();
  const project = {
    _id: newId(),
    name: `project ${newId()}`,
    description: '',
    organization_id: organizationId,
    department_id: departmentId,
    user_id: userId,
    status: 'active' as const,
    created_at: epochSeconds(),
    updated_at: epochSeconds(),
  };
  await deps.mongo.collections.projects.insertOne(project);
  const apiKey = await createKey(deps, { organizationId, departmentId, projectID: project._id, userId }, options);
  const api = apiClient(options.url ?? testRun().url, { 'x-api-key': apiKey });
  return { organizationId, departmentId, projectID: project._id, userId, apiKey, api };
}

/** Another key on a workspace's project. */
export async function createKey(
  deps: Deps,
  workspace: Pick<Workspace, 'organizationId' | 'departmentId' | 'projectID' | 'userId'>,
  options: { role?: string; grants?: readonly Grant[] } = {},
): Promise<string> {
  const { secret } = await createApiKey(deps.mongo.collections, {
    name: 'test',
    createdBy: workspace.userId,
    scope: {
      org_id: workspace.organizationId,
      dept_id: workspace.departmentId,
      project_id: workspace.projectID,
      user_id: workspace.userId,
      role: options.role ?? 'OWNER',
      ...(options.grants ? { grants: options.grants } : {}),
    },
  });
  return secret;
}
