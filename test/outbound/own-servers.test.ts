import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHttpClient, type HttpClient } from '../../src/outbound/http-client.js';
import { createOwnServers, type OwnServer } from '../../src/outbound/own-servers.js';
import { ownServersOf } from '../../src/own-servers-of.js';
import { createSmtpClient } from '../../src/outbound/smtp-client.js';
import { loadConfig } from '../../src/config.js';
import { listen, type Listening } from '../support/ports.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const { signal } = new AbortController();
let received = 0;
let own: Listening;
let other: Listening;
let http: HttpClient;
let names: Record<string, string>;

/** Resolves the names of this test, as a name server of an attacker can do. */
const lookup = (name: string, _options: unknown, callback: (...answer: unknown[]) => void) =>
  callback(null, [{ address: names[name] ?? '192.0.2.1', family: 4 }]);

beforeAll(async () => {
  const count = () => createServer((_req, res) => (received += 1) && res.end('{}'));
  own = await listen(count());
  other = await listen(count());
  names = { 'rebound.example': '127.0.0.1' };
  const servers: OwnServer[] = [{ host: '127.0.0.1', ports: [own.port] }];
  http = createHttpClient({
    allowPrivateTargets: true,
    ownServers: createOwnServers(servers),
    lookup: lookup as never,
  });
});
afterAll(async () => {
  await http.close();
  await own.close();
  await other.close();
});

const ownHosts = ['127.0.0.1', '127.8.9.1', '2130706433', '0x7f.1', '0.0.0.0', '[::ffff:127.0.0.1]', 'rebound.example'];
const interfaceHosts = Object.values(networkInterfaces()).flatMap((list) =>
  (list ?? []).filter(({ family }) => family === 'IPv4').map(({ address }) => address),
);

describe('the servers of the product, with private targets allowed', () => {
  test.each([...ownHosts, ...interfaceHosts])('are not called as %s', async (host) => {
    verifies('outbound.own-servers');
    const url = `http://${host}:${own.port}/`;
    const before = received;
    const error: unknown = await http
      .request({ method: 'POST', url, timeoutMs: 60_000, signal })
      .catch((e: unknown) => e);
    expect(error).toHaveProperty('code', expect.stringMatching(/^(target_refused|unreachable)$/));
    expect(received).toBe(before);
  });

  test('are not called after a redirect', async () => {
    const redirecting = await listen(createServer((_req, res) => res.writeHead(307, { location: own.url }).end()));
    const request = { method: 'GET', url: redirecting.url, maxRedirects: 3, timeoutMs: 60_000, signal } as const;
    await expect(http.request(request)).rejects.toMatchObject({ code: 'target_refused' });
    await redirecting.close();
  });

  test('leave other servers of the same machine reachable', async () => {
    const answer = await http.request({ method: 'GET', url: other.url, timeoutMs: 60_000, signal });
    expect(answer.status).toBe(200);
  });

  test('receive no mail', async () => {
    const smtp = createSmtpClient({
      allowPrivateTargets: true,
      ownServers: createOwnServers([{ host: 'localhost', ports: [own.port] }]),
    });
    const server = { host: '127.0.0.1', port: own.port, secure: false, requireTls: false };
    const mail = { from: 'a@example.com', to: ['b@example.com'], subject: '', text: '', messageId: '<a@example.com>' };
    const sent = smtp.send(server as never, mail as never, { timeoutMs: 60_000, signal });
    await expect(sent).rejects.toMatchObject({ code: 'target_refused' });
  });
});

test('every port of a server on another host is protected', async () => {
  const resolve = () => Promise.resolve(['10.1.2.3']);
  const servers = createOwnServers([{ host: 'temporal.internal', ports: [7233] }], resolve);
  await expect(servers.refuse('::ffff:10.1.2.3', 7243)).rejects.toMatchObject({ code: 'target_refused' });
  await expect(servers.refuse('10.1.2.4', 7233)).resolves.toBeUndefined();
});

test('the configuration names the servers', () => {
  const config = loadConfig({
    TEMPORAL_ADDRESS: 'temporal:7233',
    MONGODB_URI: 'mongodb://user:p@one:27017,two/service?authSource=admin',
    NEO4J_URI: 'neo4j+s://graph.internal',
    PROTECTED_TARGETS: 'metrics.internal:9090, [fd00::1]:5432',
  });
  const named = ownServersOf(config).map(({ host, ports }) => `${host} ${ports.join(',')}`);
  expect(named).toEqual(
    expect.arrayContaining([
      'temporal 7233,7243',
      'one 27017',
      'two 27017',
      'graph.internal 7687,7474,7473',
      'metrics.internal 9090',
      'fd00::1 5432',
    ]),
  );
});

test('the local stack protects all its ports', () => {
  const { env } = testRun();
  const hosts = ownServersOf(loadConfig(env)).flatMap(({ ports }) => ports);
  for (const name of ['TEMPORAL_ADDRESS', 'MONGODB_URI', 'NEO4J_URI', 'PROTECTED_TARGETS'] as const)
    for (const [, port] of (env[name] ?? '').matchAll(/:(\d{4,5})(?=[/,?]|$)/g)) expect(hosts).toContain(Number(port));
});
