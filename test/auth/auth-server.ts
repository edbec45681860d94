import { afterAll, beforeAll } from '@jest/globals';
import { z } from 'zod';
import { authenticateBearer } from '../../src/auth/authenticate-bearer.js';
import { resolveScope } from '../../src/auth/resolve-scope.js';
import { createUser, grantRole } from '../../src/auth/users.js';
import type { Deps } from '../../src/domain/deps.js';
import { apiKeyRoutes, platformApiKeyRoutes } from '../../src/surfaces/gateway/routes/api-keys.js';
import { authRoutes } from '../../src/surfaces/gateway/routes/auth.js';
import { jwksRoutes } from '../../src/surfaces/gateway/routes/jwks.js';
import { defineRoute } from '../../src/surfaces/rest/define-route.js';
import { newId } from '../../src/base/ids.js';
import { apiClient, type ApiClient } from '../support/client.js';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { serveRoutes, type RouteServer } from '../support/governance/gateway-server.js';

interface AuthServer {
  deps: Deps;
  client(): ApiClient;
  /** Returns a client that sends `Authorization: Bearer`. */
  as(credential: string): ApiClient;
}

/**
 * Serves the routes of credentials and `GET /probe`, which returns the principal, over HTTP. Each server has its own
 * stores and caches: two of them share as little as two processes.
 */
export function useAuthServer(overrides: Record<string, string> = {}): AuthServer {
  const deps = useDeps(overrides);
  const baseUrl = () => 'http://gateway.test';
  const probe = defineRoute({
    method: 'get',
    path: '/probe',
    permission: 'any',
    tag: 'test',
    summary: 'The principal',
    response: { schema: z.unknown(), description: 'The principal.' },
    handler: ({ ctx }) => resolveScope(deps, ctx.principal, ctx.req.get('x-service-workspace')),
  });
  let server: RouteServer;
  beforeAll(async () => {
    server = await serveRoutes(
      deps,
      [...authRoutes(deps, baseUrl), ...apiKeyRoutes, ...jwksRoutes(deps), ...platformApiKeyRoutes, probe],
      (req) => authenticateBearer(deps, req.headersDistinct.authorization, baseUrl()),
    );
  });
  afterAll(() => server.close());
  return {
    deps,
    client: () => apiClient(server.url),
    as: (credential) => apiClient(server.url, { authorization: `Bearer ${credential}` }),
  };
}

export interface Person {
  userId: string;
  email: string;
  password: string;
  workspace: Workspace;
}

interface PersonOptions {
  /**
   * The role, which is null for a person without one. OWNER and ORG_ADMIN have it on the organization, others on the
   * project.
   */
  role?: string | null;
  workspace?: Workspace;
}

/** Creates a user with a password and a role in a workspace. Creates the workspace if none is given. */
export async function createPerson(deps: Deps, { role = 'OWNER', workspace }: PersonOptions = {}): Promise<Person> {
  const at = workspace ?? (await createWorkspace(deps));
  const userId = newId();
  const email = `Person-${userId}@Example.com`;
  const password = `password of ${userId}`;
  const { organizationId } = at;
  await createUser(deps.mongo.collections, { id: userId, email, name: 'Person', password, organizationId });
  const projectId = role === 'OWNER' || role === 'ORG_ADMIN' ? null : at.projectID;
  if (role !== null) await grantRole(deps.mongo.collections, { userId, organizationId, projectId, role });
  return { userId, email, password, workspace: at };
}

export async function userToken(server: AuthServer, { email, password, workspace }: Person): Promise<string> {
  const { body } = await server.client().post('/v1/auth/sign-in', { email, password, project_id: workspace.projectID });
  return body.access_token as string;
}

export async function sessionOf(
  server: AuthServer,
  { email, password, workspace }: Person,
): Promise<{ access: string; refresh: string }> {
  const { body } = await server.client().post('/v1/auth/login', { email, password, project_id: workspace.projectID });
  return { access: body.access_token, refresh: body.refresh_token };
}
