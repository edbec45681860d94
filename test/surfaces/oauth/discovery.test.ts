import { describe, expect, test } from '@jest/globals';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { allScopes } from './flow.js';
import { useOauthServer } from './oauth-server.js';

const server = useOauthServer();
const scopes = allScopes.split(' ');

describe('GET /.well-known/oauth-authorization-server', () => {
  test('returns the metadata of the specification', async () => {
    verifies('oauth.discovery.authorization-server');
    const { status, body } = await server.client().get('/.well-known/oauth-authorization-server');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      issuer: server.baseUrl,
      authorization_endpoint: `${server.baseUrl}/oauth/authorize`,
      token_endpoint: `${server.baseUrl}/oauth/token`,
      registration_endpoint: `${server.baseUrl}/oauth/register`,
      revocation_endpoint: `${server.baseUrl}/oauth/revoke`,
      jwks_uri: `${server.baseUrl}/.well-known/jwks.json`,
      device_authorization_endpoint: `${server.baseUrl}/oauth/device_authorization`,
      grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_post', 'client_secret_basic', 'private_key_jwt'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
    const keys = await server.client().get('/.well-known/jwks.json');
    expect(keys.body.keys[0]).toMatchObject({ alg: 'ES256', use: 'sig' });
  });

  test('advertises exactly the seven scopes', async () => {
    verifies('oauth.scopes');
    const { body } = await server.client().get('/.well-known/oauth-authorization-server');
    expect([...body.scopes_supported].sort()).toEqual([...scopes].sort());
  });

  test('can be read by pages of any origin, and only by GET', async () => {
    const { headers } = await server
      .client()
      .get('/.well-known/oauth-authorization-server', { origin: 'https://inspector.example' });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    const refused = await server.client().post('/.well-known/oauth-authorization-server', {});
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET']);
  });
});

describe('GET /.well-known/oauth-protected-resource', () => {
  test.each(['', '/mcp', '/mcp/', '/sse', '/sse/', '/v1'])('describes the resource at %s', async (path) => {
    verifies('oauth.discovery.protected-resource');
    const { status, body } = await server.client().get(`/.well-known/oauth-protected-resource${path}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      resource: server.baseUrl + path,
      authorization_servers: [server.baseUrl],
      bearer_methods_supported: ['header'],
    });
    expect([...body.scopes_supported].sort()).toEqual([...scopes].sort());
  });

  test.each(['/mcp', '/mcp/', '/sse', '/sse/'])('is named by the refusal of a request to %s', async (path) => {
    verifies('oauth.discovery.protected-resource');
    const { status, headers } = await fetch(testRun().url + path);
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toContain(`/.well-known/oauth-protected-resource${path}"`);
  });

  test('is not found for an unknown surface', async () => {
    expect((await server.client().get('/.well-known/oauth-protected-resource/other')).status).toBe(404);
  });
});

test('preflights of a browser client are answered at the endpoints without cookies, and nowhere else', async () => {
  const preflight = (path: string) =>
    fetch(server.url + path, { method: 'OPTIONS', headers: { origin: 'https://inspector.example' } });
  for (const path of ['/oauth/token', '/oauth/register', '/oauth/revoke', '/oauth/device_authorization']) {
    const { status, headers } = await preflight(path);
    expect([
      status,
      headers.get('access-control-allow-origin'),
      headers.get('access-control-allow-credentials'),
    ]).toEqual([204, '*', null]);
  }
  expect((await preflight('/oauth/authorize')).headers.get('access-control-allow-origin')).toBeNull();
});
