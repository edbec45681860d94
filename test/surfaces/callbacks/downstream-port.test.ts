import { afterAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startDownstream } from '../../../src/surfaces/callbacks/downstream/listener.js';
import { useDeps } from '../../support/fixture.js';
import { startApi } from '../../support/processes.js';

const deps = useDeps();
const folder = await mkdtemp(path.join(tmpdir(), 'downstream-port-'));
/** Another program that listens where this process wants to. */
const foreign = createServer().listen(0, '127.0.0.1');
await once(foreign, 'listening');
const { port: taken } = foreign.address() as AddressInfo;
afterAll(async () => {
  foreign.close();
  await rm(folder, { recursive: true, force: true });
});

const downstream = (downstreamPortIsSet: boolean) => {
  const callbacks = { ...deps.config.callbacks, downstreamUrl: undefined, downstreamPortIsSet };
  return startDownstream({ ...deps, config: { ...deps.config, downstreamPort: taken, callbacks } });
};

describe('the downstream port is taken by another process', () => {
  test('a process whose DOWNSTREAM_PORT is set does not start, and says what to do', async () => {
    const log = path.join(folder, 'api.log');
    const env = { MONGODB_URI: deps.config.mongodb.uri, DATA_DIR: folder, PORT: '0', DOWNSTREAM_PORT: String(taken) };
    await expect(startApi(env, log)).rejects.toThrow('before it was up');
    expect(await readFile(log, 'utf8')).toContain(
      `another process listens on the downstream port 127.0.0.1:${taken}: set DOWNSTREAM_PORT to a free port, or to 0 for any free port`,
    );
    await expect(downstream(true)).rejects.toThrow(`127.0.0.1:${taken}`);
  });

  test('otherwise the process forwards to its own listener on another port', async () => {
    const listener = await downstream(false);
    expect(listener.port).not.toBe(taken);
    expect(listener.url()).toBe(`http://127.0.0.1:${listener.port}`);
    expect((await fetch(`${listener.url()}/voice-provider/unknown`, { method: 'POST' })).status).toBe(404);
    await listener.close();
  });
});
