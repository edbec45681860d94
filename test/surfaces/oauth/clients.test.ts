import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { verifies } from '../../support/verifies.js';
import { allScopes, redirectUri } from './flow.js';
import { consentInBrowser, mcpProvider } from './mcp-provider.js';
import { useOauthServer } from './oauth-server.js';

const server = useOauthServer();
let person: Person;
beforeAll(async () => {
  person = await createPerson(server.deps);
});

const consentAt = (address: URL) => consentInBrowser(server.url, person, address);

describe('openid-client', () => {
  test.each(['none', 'client_secret_post', 'client_secret_basic'])(
    'completes discovery, registration, code flow, refresh and revocation with %s',
    async (method) => {
      verifies('oauth.openid-client');
      // The library must explicitly allow plain http, which the test server on loopback uses.
      const execute = [oidc.allowInsecureRequests];
      const metadata = {
        client_name: 'openid-client',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: method,
      };
      const authentication = {
        none: oidc.None(),
        client_secret_post: oidc.ClientSecretPost(),
        client_secret_basic: oidc.ClientSecretBasic(),
      }[method];
      const config = await oidc.dynamicClientRegistration(new URL(server.baseUrl), metadata, authentication, {
        execute,
        algorithm: 'oauth2',
      });
      const verifier = oidc.randomPKCECodeVerifier();
      const state = oidc.randomState();
      const address = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'svc:query.read svc:docs.read',
        resource: `${server.baseUrl}/mcp`,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
      });
      const answer = await consentAt(address);
      const tokens = await oidc.authorizationCodeGrant(config, answer, {
        pkceCodeVerifier: verifier,
        expectedState: state,
      });
      expect((await server.as(tokens.access_token).get('/probe')).body.userId).toBe(person.userId);
      const next = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
      expect((await server.as(next.access_token).get('/probe')).status).toBe(200);
      await oidc.tokenRevocation(config, next.refresh_token ?? '');
      expect((await server.as(next.access_token).get('/probe')).status).toBe(401);
      await expect(oidc.refreshTokenGrant(config, next.refresh_token ?? '')).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    },
  );

  test('refuses an answer whose issuer was changed on the way', async () => {
    const config = await oidc.discovery(new URL(server.baseUrl), 'x', undefined, oidc.None(), {
      execute: [oidc.allowInsecureRequests],
      algorithm: 'oauth2',
    });
    const answer = new URL(`${redirectUri}?code=c&state=s&iss=https%3A%2F%2Fevil.example`);
    await expect(
      oidc.authorizationCodeGrant(config, answer, { pkceCodeVerifier: 'v'.repeat(43), expectedState: 's' }),
    ).rejects.toMatchObject({ cause: { message: expect.stringContaining('"iss"') } });
  });
});

describe("the MCP SDK's client", () => {
  test('needs only the address of the server to get tokens, refresh them and register again', async () => {
    const provider = mcpProvider();
    const serverUrl = `${server.baseUrl}/mcp`;
    expect(await auth(provider, { serverUrl })).toBe('REDIRECT');
    expect([provider.opened?.searchParams.get('scope'), provider.opened?.searchParams.get('resource')]).toEqual([
      allScopes,
      serverUrl,
    ]);
    const answer = await consentAt(provider.opened ?? new URL('none:'));
    expect(await auth(provider, { serverUrl, authorizationCode: answer.searchParams.get('code') ?? '' })).toBe(
      'AUTHORIZED',
    );
    const first = provider.saved;
    expect((await server.as(first?.access_token ?? '').get('/probe')).status).toBe(200);

    expect(await auth(provider, { serverUrl })).toBe('AUTHORIZED');
    expect(provider.saved?.refresh_token).not.toBe(first?.refresh_token);

    const lost = provider.information?.client_id;
    await server.deps.mongo.collections.oauth_clients.deleteOne({ _id: lost ?? '' });
    expect(await auth(provider, { serverUrl })).toBe('REDIRECT');
    expect(provider.information?.client_id).not.toBe(lost);
  });

  test('asks the person again after its grant has ended', async () => {
    const provider = mcpProvider();
    const serverUrl = `${server.baseUrl}/mcp`;
    await auth(provider, { serverUrl });
    const answer = await consentAt(provider.opened ?? new URL('none:'));
    await auth(provider, { serverUrl, authorizationCode: answer.searchParams.get('code') ?? '' });
    await server.deps.oauth.grants.revokeAll({ userId: person.userId }, 'test');
    expect(await auth(provider, { serverUrl })).toBe('REDIRECT');
  });
});
