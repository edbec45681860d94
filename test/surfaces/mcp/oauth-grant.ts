import { expect } from '@jest/globals';
import type { Deps } from '../../../src/domain/deps.js';
import { newId } from '../../../src/base/ids.js';
import type { Scope } from '../../../src/auth/oauth/scopes.js';
import { eventually } from '../../support/eventually.js';
import type { Workspace } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { testRun } from '../../support/run.js';

/** The public address of the product, for which tokens are valid. */
export const publicUrl = testRun().url.replace('127.0.0.1', 'localhost');

export interface TestGrant {
  /** The current access token. Read it for each request, because it changes. */
  current: string;
  /** A new access token, like that of a refresh. */
  renew(expiresInSeconds?: number): Promise<void>;
  /** Waits until an issued token is no longer accepted. */
  expired(token: string): Promise<void>;
  revoke(): Promise<void>;
  /** Sends the current token instead of the client's initial one. */
  fetch: typeof fetch;
}

/** An OAuth client's grant on a workspace; the test sets the lifetime of its access tokens. */
export async function openGrant(
  deps: Deps,
  { organizationId, departmentId, projectID }: Workspace,
  scopes: Scope[],
  baseUrl = publicUrl,
  role = 'PROJECT_ADMIN',
): Promise<TestGrant> {
  const [grantId, clientId, userId] = [newId(), newId(), newId()];
  await deps.oauth.grants.open({
    _id: grantId,
    client_id: clientId,
    user_id: userId,
    project_id: projectID,
    scopes,
    resource: `${baseUrl}/mcp`,
  });
  const place = { org_id: organizationId, dept_id: departmentId, project_id: projectID };
  const claims = {
    sub: userId,
    role,
    ...place,
    client_id: clientId,
    scope: scopes.join(' '),
    sid: grantId,
    token_use: 'oauth',
    aud: `${baseUrl}/mcp`,
  };
  const grant: TestGrant = {
    current: '',
    async renew(expiresInSeconds = 900) {
      grant.current = await deps.auth.tokens.sign(claims, { expiresInSeconds, issuer: baseUrl });
    },
    async expired(token) {
      await eventually(async () => expect((await bearerClient(token, baseUrl).get('/mcp')).status).toBe(401));
    },
    revoke: async () => void (await deps.oauth.grants.revoke(grantId, 'the test wants it')),
    fetch: (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${grant.current}`);
      return fetch(url, { ...init, headers });
    },
  };
  await grant.renew();
  return grant;
}
