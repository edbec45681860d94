import { afterAll, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Client, Connection } from '@temporalio/client';
import { MongoClient } from 'mongodb';
import { startStack, type Stack } from '../../stack/index.js';
import { isAlive, type ProcessIdentity } from '../../stack/process-identity.js';
import { packageRoot } from '../../src/base/packages.js';
import { eventually } from '../support/eventually.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

/** The run's Neo4j represents an external server. Temporal and MongoDB belong to this file. */
const env = { ...process.env, ...testRun().env, TEMPORAL_ADDRESS: '', MONGODB_URI: '' };
const dataDir = mkdtempSync(path.join(tmpdir(), 'stack-'));
const started: Stack[] = [];

async function start(options: Partial<Parameters<typeof startStack>[0]> = {}): Promise<Stack> {
  const stack = await startStack({ dataDir, env, ...options });
  started.push(stack);
  return stack;
}

function remembered(folder: string): { ports: { mongodb: number }; servers: Record<string, ProcessIdentity> } {
  return JSON.parse(readFileSync(path.join(folder, 'stack.json'), 'utf8')) as ReturnType<typeof remembered>;
}

function serversOf(folder: string): ProcessIdentity[] {
  return Object.values(remembered(folder).servers);
}

async function save(uri: string | undefined, id: string): Promise<string[]> {
  const client = new MongoClient(uri ?? '');
  try {
    const collection = client.db().collection<{ _id: string }>('kept');
    await collection.insertOne({ _id: id });
    return (await collection.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
  } finally {
    await client.close();
  }
}

async function withTemporal<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: started[0]?.environment.TEMPORAL_ADDRESS });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

afterAll(async () => {
  await Promise.all(started.map((stack) => stack.stop()));
  rmSync(dataDir, { recursive: true });
});

describe('the local stack', () => {
  test('uses the servers in the environment and starts none', async () => {
    verifies('stack.environment-address-wins');
    const running = await start();
    const folder = mkdtempSync(path.join(tmpdir(), 'external-'));
    const external = await start({ dataDir: folder, env: { ...env, ...running.environment } });
    for (const service of Object.values(external.services)) expect(service).not.toHaveProperty('pid');
    expect(Object.values(external.services).every((service) => service.external)).toBe(true);
    // The ports that only the stack itself knows.
    const { PROTECTED_TARGETS: _, ...servers } = running.environment;
    expect(external.environment).toEqual(servers);
    expect(existsSync(path.join(folder, 'logs'))).toBe(false);
    await expect(external.services.temporal.restart()).rejects.toThrow(/is external/);
    await external.stop();
    rmSync(folder, { recursive: true });
  });

  test('refuses a data folder that a live stack uses, and names its process', async () => {
    await expect(startStack({ dataDir, env })).rejects.toThrow(`in use by the stack of process ${process.pid}`);
  });

  test('refuses a data folder of another release, says what to do, and changes nothing in it', async () => {
    verifies('stack.data-format');
    const folder = mkdtempSync(path.join(tmpdir(), 'earlier-'));
    const file = path.join(folder, 'stack.json');
    const written = JSON.stringify({ ports: {}, servers: {} });
    writeFileSync(file, written);
    for (let times = 0; times < 2; times += 1)
      await expect(startStack({ dataDir: folder, env })).rejects.toThrow(
        /another release wrote.+set DATA_DIR to another one/,
      );
    expect(readFileSync(file, 'utf8')).toBe(written);
    rmSync(folder, { recursive: true });
  });

  test('brings a killed server back on its port with its data', async () => {
    const { temporal } = started[0]!.services;
    await withTemporal((client) =>
      client.workflow.start('nothing', { taskQueue: 'no worker', workflowId: 'before-the-kill' }),
    );
    await temporal.kill('SIGKILL');
    expect(temporal.pid).toBeUndefined();
    await temporal.restart();
    const { status } = await withTemporal((client) => client.workflow.getHandle('before-the-kill').describe());
    expect(status.name).toBe('RUNNING');
  });

  test('stops without leaving a process, and starts again on the same ports and data', async () => {
    const first = started[0];
    expect(await save(first?.environment.MONGODB_URI, 'first start')).toEqual(['first start']);
    const servers = serversOf(dataDir);
    await first?.stop();
    expect(servers.filter(isAlive)).toEqual([]);
    const second = await start();
    expect(second.environment).toEqual(first?.environment);
    expect(await save(second.environment.MONGODB_URI, 'second start')).toEqual(['first start', 'second start']);
    await second.stop();
  });

  test('takes another port when its own is taken', async () => {
    const { ports } = remembered(dataDir);
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(ports.mongodb, '127.0.0.1', resolve));
    const stack = await start();
    expect(stack.environment.MONGODB_URI).not.toContain(`:${ports.mongodb}/`);
    await stack.stop();
    await new Promise((resolve) => squatter.close(resolve));
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)('leaves no server running if its process ends by %s', async (signal) => {
    const process = await startInAnotherProcess();
    const servers = serversOf(dataDir);
    expect(servers.filter(isAlive).length).toBeGreaterThanOrEqual(2);
    process.kill(signal);
    await eventually(() => expect(servers.filter(isAlive)).toEqual([]));
  });
});

/** Runs the output in `dist`, which `npm test` has just built. */
async function startInAnotherProcess(): Promise<ChildProcess> {
  const cli = path.join(packageRoot, 'dist', 'stack', 'cli.js');
  const child = spawn(process.execPath, [cli], {
    env: { ...env, DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes('The stack is up')) return child;
  }
  throw new Error('The stack did not start.');
}
