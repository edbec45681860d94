import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config.js';
import { newId } from '../../src/base/ids.js';
import { apiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { startExecution, untilExecution } from '../support/executions.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { startApi, startWorker, type Api, type ProductProcess } from '../support/processes.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { certificateFolder, createAuthority } from './certificates.js';
import { secureTemporal, type SecuredTemporal } from './secured-temporal.js';

const deps = useDeps();
const folder = certificateFolder();
const authority = await createAuthority(folder, 'authority');
const [server, client] = await Promise.all([authority.issue('temporal.test'), authority.issue('client')]);
const stranger = await (await createAuthority(folder, 'stranger')).issue('client');
const apiKey = `key-${newId()}`;
const taskQueue = `secured-${newId()}`;
const apis: Api[] = [];
const workers: ProductProcess[] = [];
let temporal: SecuredTemporal;

beforeAll(async () => {
  temporal = await secureTemporal(testRun().env.TEMPORAL_ADDRESS ?? '', { server, clients: authority, apiKey });
});
afterAll(async () => {
  await Promise.all([...apis, ...workers].map((running) => running.end()));
  temporal.close();
  rmSync(folder, { recursive: true });
});

const secured = () => ({
  ...testRun().env,
  TEMPORAL_TASK_QUEUE: taskQueue,
  TEMPORAL_ADDRESS: temporal.address,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.certFile,
  TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
  TEMPORAL_TLS_CLIENT_CERT_PATH: client.certFile,
  TEMPORAL_TLS_CLIENT_KEY_PATH: client.keyFile,
  TEMPORAL_API_KEY: apiKey,
});
const logOf = (name: string) => path.join(testRun().logs, `${taskQueue}-${name}.log`);
const linesOf = (name: string) => readFileSync(logOf(name), 'utf8');

describe('a Temporal that requires TLS, a client certificate and an API key', () => {
  test('runs the executions of an API and a worker that have them', async () => {
    verifies('scale.temporal-secured', 'env.temporal-tls');
    const [api, worker] = await Promise.all([
      startApi(secured(), logOf('api')),
      startWorker(secured(), logOf('worker')),
    ]);
    apis.push(api);
    workers.push(worker);
    const workspace = await createWorkspace(deps, { url: api.url });
    const id = await startExecution(workspace, flowThatCalls([]));
    await untilExecution(workspace, id, 'completed');
    await eventually(async () =>
      expect(await workspace.api.get('/readyz')).toMatchObject({
        status: 200,
        body: { dependencies: { temporal: 'up' } },
      }),
    );
    expect(temporal.calls).toMatchObject({ passed: expect.any(Number), refused: 0 });
    expect(temporal.calls.passed).toBeGreaterThan(10);
    for (const name of ['api', 'worker']) expect(linesOf(name)).not.toContain(apiKey);
  });

  test.each([
    [
      'certificate',
      /the TLS connection to Temporal cannot be made: check the TEMPORAL_TLS_ variables/,
      () => ({ TEMPORAL_TLS_CLIENT_CERT_PATH: stranger.certFile, TEMPORAL_TLS_CLIENT_KEY_PATH: stranger.keyFile }),
    ],
    [
      'key',
      /Temporal refuses the credentials of this process: check TEMPORAL_API_KEY/,
      () => ({ TEMPORAL_API_KEY: `wrong-${newId()}` }),
    ],
  ])(
    'with a wrong %s the worker exits and the API is not ready, and both log the reason without a secret',
    async (name, reason, wrong) => {
      verifies('scale.temporal-secured');
      const env = { ...secured(), ...wrong() };
      const [api, worker] = await Promise.all([
        startApi(env, logOf(`${name}-api`)),
        startWorker(env, logOf(`${name}-worker`)).then(
          () => 'polls',
          (error: Error) => error.message,
        ),
      ]);
      apis.push(api);
      expect(worker).toMatch(/ended \(1\) before it was up/);
      expect(await apiClient(api.url).get('/readyz')).toMatchObject({
        status: 503,
        body: { dependencies: { temporal: 'down', mongodb: 'up' } },
      });
      for (const part of ['api', 'worker']) {
        const log = await eventually(() => {
          expect(linesOf(`${name}-${part}`)).toMatch(reason);
          return linesOf(`${name}-${part}`);
        });
        for (const secret of [env.TEMPORAL_API_KEY, 'PRIVATE KEY', client.key.split('\n')[1]])
          expect(log.includes(secret ?? '')).toBe(false);
      }
    },
  );
});

describe('the variables of Temporal', () => {
  const pem = '-----BEGIN CERTIFICATE-----';

  test('define one connection for client and worker, from files or from their contents', () => {
    verifies('env.temporal-tls');
    const { connection } = loadConfig(secured()).temporal;
    expect(connection).toMatchObject({
      address: temporal.address,
      apiKey,
      tls: { serverNameOverride: 'temporal.test' },
    });
    const { tls } = loadConfig({ TEMPORAL_TLS_CLIENT_CERT_DATA: client.cert, TEMPORAL_TLS_CLIENT_KEY_DATA: client.key })
      .temporal.connection;
    const pair = (tls as { clientCertPair: { crt: Uint8Array; key: Uint8Array } }).clientCertPair;
    expect([Buffer.from(pair.crt).toString(), Buffer.from(pair.key).toString()]).toEqual([client.cert, client.key]);
    expect(loadConfig({ TEMPORAL_API_KEY: 'k' }).temporal.connection).toMatchObject({ tls: true });
    expect(loadConfig({ TEMPORAL_TLS: 'false' }).temporal.connection).toMatchObject({
      tls: false,
      address: 'localhost:7233',
    });
  });

  test.each([
    [{ TEMPORAL_TLS: 'yes' }, /TEMPORAL_TLS: /],
    [{ TEMPORAL_API_KEY: 'key\n' }, /TEMPORAL_API_KEY: contains white space/],
    [
      { TEMPORAL_TLS_CLIENT_CERT_DATA: pem },
      /TEMPORAL_TLS_CLIENT_KEY_DATA: is needed with TEMPORAL_TLS_CLIENT_CERT_DATA/,
    ],
    [
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere/ca.pem' },
      /TEMPORAL_TLS_SERVER_CA_CERT_PATH: names a file that cannot be read/,
    ],
    [
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/dev/null', TEMPORAL_TLS_SERVER_CA_CERT_DATA: pem },
      /TEMPORAL_TLS_SERVER_CA_CERT_DATA: cannot be given together with/,
    ],
    [{ TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' }, /TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: is not supported/],
  ])('are refused if the SDK would ignore a part of them: %j', (environment, reason) => {
    verifies('env.temporal-tls', 'env.invalid-refused');
    const load = () => loadConfig(environment);
    expect(load).toThrow(reason);
    for (const value of Object.values(environment)) expect(load).not.toThrow(value);
  });
});
