import { afterAll } from '@jest/globals';
import { createApiKey } from '../../src/auth/api-keys.js';
import { noteExternalIdentity } from '../../src/auth/external-identities.js';
import { defaultGrants, holdsEverywhere, type Grant } from '../../src/auth/grants.js';
import { loadConfig } from '../../src/config.js';
import { createDeps } from '../../src/deps.js';
import { type Deps } from '../../src/domain/deps.js';
import { storeProject } from '../../src/domain/projects/operations.js';
import { newId } from '../../src/base/ids.js';
import { epochSeconds } from '../../src/base/time.js';
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
  const deps = createDeps(
    loadConfig({ VERIFY_RESPONSES: 'true', ...testRun().env, LOG_LEVEL: 'silent', ...overrides }),
    'test',
  );
  afterAll(() => deps.close());
  return deps;
}

/** An organization, department and project for one test, with an API key for the project. */
export async function createWorkspace(deps: Deps, options: WorkspaceOptions = {}): Promise<Workspace> {
  const organizationId = options.organizationId ?? newId();
  const departmentId = newId();
  const userId = newId();
  const projectID = newId();
  await storeProject(deps.mongo.collections, {
    _id: projectID,
    name: `project ${projectID}`,
    organization_id: organizationId,
    department_id: departmentId,
    user_id: userId,
  });
  const apiKey = await createKey(deps, { organizationId, departmentId, projectID, userId }, options);
  const api = apiClient(options.url ?? testRun().url, { 'x-api-key': apiKey });
  return { organizationId, departmentId, projectID, userId, apiKey, api };
}

/** A workspace whose `api` is its person with a user token, for calls that a key cannot make (decision 0017). */
export async function createPersonalWorkspace(deps: Deps): Promise<Workspace> {
  const workspace = await createWorkspace(deps);
  return { ...workspace, api: await personOf(deps, workspace) };
}

/**
 * Another key on a workspace's project. By default, a key of an OWNER or ORG_ADMIN has the governance grants in addition
 * to the defaults, as if such a person had granted them; `grants: defaultGrants(role)` omits them.
 */
export async function createKey(
  deps: Deps,
  workspace: Pick<Workspace, 'organizationId' | 'departmentId' | 'projectID' | 'userId'>,
  { role = 'OWNER', grants = withGovernance(role) }: { role?: string; grants?: readonly Grant[] } = {},
): Promise<string> {
  const { secret } = await createApiKey(deps.mongo.collections, {
    name: 'test',
    createdBy: workspace.userId,
    scope: {
      org_id: workspace.organizationId,
      dept_id: workspace.departmentId,
      project_id: workspace.projectID,
      user_id: workspace.userId,
      role,
      grants,
    },
  });
  return secret;
}

function withGovernance(role: string): readonly Grant[] {
  return [
    ...defaultGrants(role),
    ...(holdsEverywhere(role) ? (['svc:governance.read', 'svc:governance.write'] as const) : []),
  ];
}

interface PersonOptions {
  role?: string;
  /** All roles, if there are several. `role` is the first of them. */
  roles?: readonly string[];
  userId?: string;
  url?: string;
}

/** A user token of the workspace's person or another one, to manage other people and other projects (decision 0017). */
export async function userTokenOf(
  deps: Deps,
  workspace: Omit<Workspace, 'api' | 'apiKey'>,
  { roles, role = roles?.[0] ?? 'OWNER', userId = workspace.userId }: PersonOptions = {},
): Promise<string> {
  const { projectID: project_id, organizationId: org_id, departmentId: dept_id } = workspace;
  // Without a record of the user, the person is one of an external identity provider.
  await noteExternalIdentity(
    deps.mongo.collections,
    {
      kind: 'user_jwt',
      userId,
      organizationId: org_id,
      departmentId: dept_id,
      projectId: project_id,
      role,
      ...(roles && { roles }),
      grants: [],
    },
    epochSeconds() + 3600,
  );
  const { _id: sid } = await deps.auth.sessions.start({ kind: 'user', user_id: userId, project_id });
  return deps.auth.tokens.sign(
    { sub: userId, role, ...(roles && { roles }), org_id, dept_id, project_id, token_use: 'user', sid },
    { expiresInSeconds: 3600 },
  );
}

/** HTTP to both surfaces with such a token. By default, to the API process that the workspace uses. */
export async function personOf(deps: Deps, workspace: Workspace, options: PersonOptions = {}): Promise<ApiClient> {
  return apiClient(options.url ?? workspace.api.url, {
    authorization: `Bearer ${await userTokenOf(deps, workspace, options)}`,
  });
}
