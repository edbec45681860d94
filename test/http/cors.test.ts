import { describe, expect, test } from '@jest/globals';
import { useOwnApp } from '../support/own-app.js';
import { verifies } from '../support/verifies.js';

const listed = useOwnApp({
  CORS_ORIGINS: 'https://app.example.com, https://desk.example.com',
  BASE_URL: 'https://svc.example.com',
});
const unset = useOwnApp();
const page = 'https://app.example.com';
const preflight = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization, mcp-session-id',
};
const metadata = '/.well-known/oauth-protected-resource/mcp';

async function ask(url: string, method: string, origin: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { method, headers: { origin, ...headers } });
  return { status: answer.status, allowed: answer.headers.get('access-control-allow-origin'), headers: answer.headers };
}

describe('pages of other origins', () => {
  test('can call MCP and OAuth only if the environment lists them', async () => {
    verifies('http.cors');
    for (const path of ['/mcp', '/sse', '/messages', metadata, '/oauth/token', '/oauth/register']) {
      const asked = await ask(listed.url() + path, 'OPTIONS', page, preflight);
      expect([path, asked.status, asked.allowed]).toEqual([path, 204, page]);
      expect(asked.headers.get('access-control-allow-headers')).toContain('Mcp-Session-Id');
      expect(asked.headers.get('vary')).toContain('Origin');
      expect((await ask(listed.url() + path, 'OPTIONS', 'https://evil.example', preflight)).allowed).toBeNull();
    }
    expect((await ask(`${listed.url()}/v1/audit`, 'OPTIONS', page, preflight)).allowed).toBeNull();
    expect((await ask(`${listed.url()}/oauth/authorize`, 'GET', page)).allowed).toBeNull();
  });

  test('learn from MCP how to get a credential', async () => {
    verifies('http.cors');
    const host = { host: 'svc.example.com' };
    const refused = await ask(`${listed.url()}/mcp`, 'POST', page, host);
    expect([401, 403]).toContain(refused.status);
    expect(refused.allowed).toBe(page);
    expect(refused.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
  });

  test('can read the OAuth documents without a list, and cannot call MCP', async () => {
    verifies('http.cors');
    expect((await ask(unset.url() + metadata, 'GET', page)).allowed).toBe('*');
    expect((await ask(`${unset.url()}/mcp`, 'OPTIONS', page, preflight)).allowed).toBeNull();
  });
});

test('HSTS is sent only if the public address is https', async () => {
  verifies('http.hsts');
  expect((await fetch(`${listed.url()}/healthz`)).headers.get('strict-transport-security')).toMatch(/^max-age=\d+$/);
  expect((await fetch(`${unset.url()}/healthz`)).headers.get('strict-transport-security')).toBeNull();
});
