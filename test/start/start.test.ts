import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { loadConfig } from '../../src/config.js';
import type { Workspace } from '../../src/seed.js';
import { apiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { startHttpSink } from '../support/http-sink.js';
import { freePort, listenOn } from '../support/ports.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { endAll, launch, type Launched } from './launcher.js';

const farewell = 'Ctrl-C stops everything';
const deps = useDeps();
// Each starts two processes or more, on a machine that may be busy.
jest.setTimeout(120_000);
let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'start-test-'));
});
afterEach(async () => {
  endAll();
  await rm(dataDir, { recursive: true, force: true });
});

async function workspaceFile(): Promise<Workspace> {
  return JSON.parse(await readFile(path.join(dataDir, 'workspace.json'), 'utf8')) as Workspace;
}

function clientOf({ base_url, api_key }: Workspace) {
  return apiClient(base_url, { 'x-api-key': api_key });
}

async function executionsOf(workspace: Workspace) {
  const answer = await clientOf(workspace).get(`/${workspace.project_id}/execution_flows`);
  expect(answer.status).toBe(200);
  return answer.body as { total_count: number; data: { status: string; conclusion: { conclusion: string } | null; agents_output: any[] }[] };
}

async function endsWithin(launched: Launched, signal: NodeJS.Signals, ms: number) {
  const begun = Date.now();
  launched.signal(signal);
  const end = await launched.ended;
  expect(Date.now() - begun).toBeLessThan(ms);
  await eventually(() => expect(launched.processes()).toEqual([]));
  return end;
}

describe('npm start', () => {
  test('runs the sample and shows its progress, its result, the links and the next commands', async () => {
    verifies('sample.runs-to-completion', 'sample.reads-document', 'sample.calls-http', 'sample.terminal');
    verifies('first-start.prints-sign-in', 'first-start.api-key-works', 'first-start.workspace-file', 'env.servers', 'env.port', 'env.base-url');
    const port = await freePort();
    const launched = launch(dataDir, { PORT: port });
    await launched.says(farewell);
    const workspace = await workspaceFile();
    const shown = launched.stdout();

    expect((await stat(path.join(dataDir, 'workspace.json'))).mode & 0o777).toBe(0o600);
    expect(workspace).toMatchObject({
      base_url: `http://localhost:${port}`,
      api_url: `http://localhost:${port}`,
      temporal_address: testRun().env.TEMPORAL_ADDRESS,
      workspace: `ws_${workspace.project_id}`,
    });
    expect(shown).toContain(`${workspace.admin.email} / ${workspace.admin.password}`);
    expect(shown.indexOf('agent   Handbook reader')).toBeLessThan(shown.indexOf('agent   Brief writer'));

    const { total_count, data } = await executionsOf(workspace);
    const [execution] = data;
    expect(await deps.mongo.collections.executions.countDocuments({ projectID: workspace.project_id })).toBe(1);
    expect(total_count).toBe(1);
    expect(execution?.status).toBe('completed');
    expect(execution?.agents_output.map(({ title }) => title)).toEqual(['Handbook reader', 'Brief writer']);
    expect(execution?.agents_output[1].actions[0].output.apiBaseUrl).toBe(`http://localhost:${port}/v1`);
    const conclusion = execution?.conclusion?.conclusion ?? '';
    expect(conclusion).toMatch(/^# /);
    expect(conclusion).toMatch(/blue\s+cage/);
    expect(shown).toContain(conclusion);

    const link = new RegExp(`${testRun().env.TEMPORAL_UI_URL}/namespaces/default/workflows/execution%2F[-0-9a-f]{36}/[-0-9a-f]{36}`);
    expect(shown).toMatch(link);
    expect(shown).toContain(`http://localhost:${port}/docs`);
    const commands = shown.split('\n').filter((line) => line.startsWith('  curl '));
    expect(commands).toHaveLength(3);
    for (const command of commands) {
      const url = /http:\/\/localhost[^' ]+/.exec(command)?.[0] ?? '';
      const response = await fetch(url, command.includes('x-api-key') ? { headers: { 'x-api-key': workspace.api_key } } : {});
      expect([url, response.status]).toEqual([url, 200]);
    }
    expect((await endsWithin(launched, 'SIGINT', 20_000)).code).toBe(0);
  });

  test('a second time keeps workspace and data, adds a run, and brings the addresses up to date', async () => {
    verifies('first-start.later-starts-keep');
    const first = launch(dataDir, { PORT: await freePort() });
    await first.says(farewell);
    const before = await workspaceFile();
    await endsWithin(first, 'SIGINT', 20_000);

    const port = await freePort();
    const second = launch(dataDir, { PORT: port });
    await second.says(farewell);
    const after = await workspaceFile();
    const address = `http://localhost:${port}`;
    expect(after).toEqual({ ...before, base_url: address, api_url: address, downstream_url: expect.stringMatching(/^http/) });
    expect(await executionsOf(after)).toMatchObject({ total_count: 2, data: [{ status: 'completed' }, { status: 'completed' }] });
    await endsWithin(second, 'SIGTERM', 20_000);
  });

  test('with --no-sample brings the product up and runs nothing', async () => {
    verifies('sample.skipped-on-request');
    const launched = launch(dataDir, { PORT: await freePort() }, ['--no-sample']);
    await launched.says(farewell);
    expect(launched.stdout()).not.toContain('The sample');
    expect((await executionsOf(await workspaceFile())).total_count).toBe(0);
  });

  test('with SEED=false says that there is no workspace, and serves', async () => {
    const port = await freePort();
    const launched = launch(dataDir, { PORT: port, SEED: 'false' });
    await launched.says('nothing was seeded');
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });

  test('a sample that fails is reported and takes nothing down', async () => {
    const elsewhere = await startHttpSink();
    elsewhere.answer('/', (_request, res) => res.writeHead(404).end());
    const port = await freePort();
    const launched = launch(dataDir, { PORT: port, BASE_URL: elsewhere.url });
    await launched.says(farewell);
    await elsewhere.close();
    expect(launched.stdout()).toMatch(/The sample did not get through: it is failed, see http.*\/monitoring\nEverything else runs\./);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });
});

describe('the end', () => {
  test('by Ctrl-C, SIGTERM or during the start leaves no process', async () => {
    verifies('stack.stops-on-signal');
    const early = launch(dataDir, { PORT: await freePort() });
    await eventually(() => expect(early.processes().length).toBeGreaterThan(1), { everyMs: 10 });
    await endsWithin(early, 'SIGINT', 20_000);

    const launched = launch(dataDir, { PORT: await freePort() }, ['--no-sample']);
    await launched.says(farewell);
    expect(launched.processes().length).toBeGreaterThanOrEqual(3);
    await endsWithin(launched, 'SIGTERM', 20_000);
  });

  test('by kill -9 of the launcher leaves no API and no worker', async () => {
    const launched = launch(dataDir, { PORT: await freePort() }, ['--no-sample']);
    await launched.says(farewell);
    launched.signal('SIGKILL');
    await launched.ended;
    await eventually(() => expect(launched.processes()).toEqual([]));
  });

  test.each(['API', 'worker'])('of the %s is told with its log, and ends the rest', async (name) => {
    const launched = launch(dataDir, { PORT: await freePort() }, ['--no-sample']);
    const pids = await launched.says(/API: ready at \S+ \(pid (\d+)\); worker: polling \(pid (\d+)\)/);
    await launched.says(farewell);
    process.kill(Number(pids[name === 'API' ? 1 : 2]), 'SIGKILL');
    expect((await launched.ended).code).toBe(1);
    expect(launched.stderr()).toBe(`The ${name} ended (SIGKILL); see ${path.join(dataDir, 'logs', `${name.toLowerCase()}.log`)}\n`);
    await eventually(() => expect(launched.processes()).toEqual([]));
  });
});

test('with an empty environment the API is on 8080, known as localhost, and keeps its data in .data', () => {
  verifies('env.port', 'env.base-url', 'env.data-dir');
  expect(loadConfig({})).toMatchObject({ port: 8080, baseUrl: undefined, dataDir: path.resolve('.data') });
});

describe('what cannot be', () => {
  test('a busy PORT of the environment ends the start with one sentence', async () => {
    const other = await listenOn();
    const launched = launch(dataDir, { PORT: String(other.port) });
    expect((await launched.ended).code).toBe(1);
    expect(launched.stderr()).toBe(`Port ${other.port}, which was asked for PORT, is in use.\n`);
    await other.close();
  });

  test('without PORT, a busy 8080 gives way and the address is told', async () => {
    const other = await listenOn(8080).catch(() => undefined);
    const launched = launch(dataDir, {}, ['--no-sample']);
    const [, port = ''] = await launched.says(/Port 8080 is in use: the API takes (\d+)/);
    await launched.says(farewell);
    expect((await workspaceFile()).base_url).toBe(`http://localhost:${port}`);
    expect((await fetch(`http://localhost:${port}/readyz`)).status).toBe(200);
    await other?.close();
  });

  test('PORT=0 takes any free port, which is told', async () => {
    const launched = launch(dataDir, { PORT: '0' }, ['--no-sample']);
    const [, url = ''] = await launched.says(/API: ready at (http:\/\/127\.0\.0\.1:[1-9]\d+) /);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  test.each([
    [{ PORT: 'http' }, /^PORT must be a port number from 0 to 65535\.\n$/],
    [{ MONGODB_URI: 'mongodb://127.0.0.1:9/service' }, /^The MongoDB that MONGODB_URI names does not answer/],
    [{ LOG_LEVEL: 'loud' }, /The (API|worker) ended while it started[^]*LOG_LEVEL/],
  ])('%j ends the start with what is wrong', async (env: Record<string, string>, message) => {
    verifies('env.invalid-refused');
    const launched = launch(dataDir, { PORT: await freePort(), ...env });
    expect((await launched.ended).code).toBe(1);
    expect(launched.stderr()).toMatch(message);
    expect(launched.processes()).toEqual([]);
  });

  test('a workspace.json that is none is left alone and named', async () => {
    const file = path.join(dataDir, 'workspace.json');
    await writeFile(file, '{}');
    const launched = launch(dataDir, { PORT: await freePort() });
    expect((await launched.ended).code).toBe(1);
    expect(launched.stderr()).toBe(`${file} is not a workspace file; move it away to seed a new one.\n`);
    expect(await readFile(file, 'utf8')).toBe('{}');
  });
});
