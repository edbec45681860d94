import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config.js';
import type { Workspace } from '../../src/domain/workspace/record.js';
import { apiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { startHttpSink } from '../support/http-sink.js';
import { freePort, listen } from '../support/ports.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { commandsIn, endAll, launch, paste, type Launched } from './launcher.js';

const farewell = 'Ctrl-C stops everything';
const deps = useDeps();
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
  return answer.body as {
    total_count: number;
    data: { status: string; conclusion: { conclusion: string } | null; agents_output: any[] }[];
  };
}

async function statusesOf(workspace: Workspace): Promise<string[]> {
  return (await executionsOf(workspace)).data.map(({ status }) => status).sort();
}

async function endBy(launched: Launched, signal: NodeJS.Signals) {
  launched.signal(signal);
  const end = await launched.ended;
  await eventually(() => expect(launched.processes()).toEqual([]));
  return end;
}

describe('npm start', () => {
  test('runs the samples and shows their progress, result, links and next commands, which work; later starts keep the data and leave one run waiting', async () => {
    verifies('sample.runs-to-completion', 'sample.reads-document', 'sample.calls-http', 'sample.terminal');
    verifies(
      'first-start.prints-sign-in',
      'first-start.api-key-works',
      'first-start.workspace-file',
      'env.servers',
      'env.port',
      'env.base-url',
      'act.sample',
    );
    verifies('first-start.later-starts-keep', 'act.sample.one', 'stack.stops-on-signal');
    const port = await freePort();
    const first = launch(dataDir, { PORT: port });
    await first.says(farewell);
    const workspace = await workspaceFile();
    const shown = first.stdout();

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
    const execution = data.find(({ status }) => status === 'completed');
    expect(await deps.mongo.collections.executions.countDocuments({ projectID: workspace.project_id })).toBe(2);
    expect(total_count).toBe(2);
    expect(execution?.agents_output.map(({ title }) => title)).toEqual(['Handbook reader', 'Brief writer']);
    expect(execution?.agents_output[1].actions[0].output.apiBaseUrl).toBe(`http://localhost:${port}/v1`);
    const conclusion = execution?.conclusion?.conclusion ?? '';
    expect(conclusion).toMatch(/^# /);
    expect(conclusion).toMatch(/blue\s+cage/);
    expect(shown).toContain(conclusion);

    const link = new RegExp(
      `${testRun().env.TEMPORAL_UI_URL}/namespaces/default/workflows/execution%2F[-0-9a-f]{36}/[-0-9a-f]{36}`,
    );
    expect(shown).toMatch(link);
    expect(shown).toContain(`http://localhost:${port}/docs`);
    const commands = commandsIn(shown);
    expect(commands).toHaveLength(5);
    for (const command of commands.filter((each) => !each.includes('/approve'))) await paste(command);

    // The second run waits.
    expect(shown).not.toContain('could not be completed');
    expect(await paste(commands.at(-1) ?? '')).toMatchObject({
      status: 'running',
      execution_context: { waiting_for: { kind: 'approval', agent_id: 'sample_checker' } },
    });
    expect((await endBy(first, 'SIGINT')).code).toBe(0);

    const otherPort = await freePort();
    const second = launch(dataDir, { PORT: otherPort });
    await second.says(farewell);
    const after = await workspaceFile();
    const address = `http://localhost:${otherPort}`;
    expect(after).toEqual({
      ...workspace,
      base_url: address,
      api_url: address,
      downstream_url: expect.stringMatching(/^http/),
    });
    // The run of the first start waited for a call to an address that no longer answers.
    await eventually(async () =>
      expect(await statusesOf(after)).toEqual(['completed', 'completed', 'failed', 'running']),
    );
    await endBy(second, 'SIGTERM');

    const third = launch(dataDir, { PORT: otherPort });
    await third.says(farewell);
    const [approve = '', read = ''] = commandsIn(third.stdout()).slice(-2);
    expect(approve).toContain('/approve');
    expect(commandsIn(second.stdout())).toContain(approve);
    expect(await statusesOf(after)).toEqual(['completed', 'completed', 'completed', 'failed', 'running']);
    // The printed command completes the waiting run.
    expect(await paste(approve)).toMatchObject({ status: expect.stringMatching(/^(approved|used)$/) });
    await eventually(async () =>
      expect(await paste(read)).toMatchObject({
        status: 'completed',
        agents_output: [{ actions: [{ output: { status: 'ready' } }] }],
      }),
    );
    expect(await statusesOf(after)).toEqual(['completed', 'completed', 'completed', 'completed', 'failed']);
    await endBy(third, 'SIGTERM');
  });

  test('with SEED=false reports that there is no workspace, and serves', async () => {
    const port = await freePort();
    const launched = launch(dataDir, { PORT: port, SEED: 'false' });
    await launched.says('nothing was seeded');
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });

  test('reports a failed sample and keeps running', async () => {
    const elsewhere = await startHttpSink();
    elsewhere.answer('/', (_request, res) => res.writeHead(404).end());
    const port = await freePort();
    const launched = launch(dataDir, { PORT: port, BASE_URL: elsewhere.url });
    await launched.says(farewell);
    await elsewhere.close();
    expect(launched.stdout()).toMatch(
      /The sample could not be completed: it is failed, see http.*\/monitoring\nEverything else runs\./,
    );
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });
});

describe('the end', () => {
  test('by Ctrl-C during the start leaves no process running', async () => {
    verifies('stack.stops-on-signal');
    const early = launch(dataDir, { PORT: await freePort() });
    await eventually(() => expect(early.processes().length).toBeGreaterThan(1), { everyMs: 10 });
    await endBy(early, 'SIGINT');
  });

  test('of a worker or an API starts it again, also without a sample and on any free port; kill -9 of the launcher leaves neither running', async () => {
    verifies('start.restarts', 'sample.skipped-on-request');
    const launched = launch(dataDir, { PORT: '0' }, ['--no-sample']);
    const [, url = ''] = await launched.says(/API: ready at (http:\/\/localhost:[1-9]\d+) /);
    await launched.says(farewell);
    expect(launched.stdout()).not.toContain('The sample');
    const workspace = await workspaceFile();
    expect(workspace.base_url).toBe(url);
    expect((await executionsOf(workspace)).total_count).toBe(0);
    expect(launched.processes().length).toBeGreaterThanOrEqual(3);
    const [, api = '', worker = ''] =
      /API: ready at \S+ \(pid (\d+)\); worker: polling \(pid (\d+)\)/.exec(launched.stdout()) ?? [];
    process.kill(Number(worker), 'SIGKILL');
    await launched.says('The worker ended unexpectedly (SIGKILL); starting it again');
    process.kill(Number(api), 'SIGKILL');
    await launched.says('The API ended unexpectedly (SIGKILL); starting it again');
    const { status, body } = await eventually(() =>
      clientOf(workspace).post(`/agentflow?projectID=${workspace.project_id}`, {
        name: 'after',
        agents: [{ title: 'A', prompt: { template: 'x' } }],
      }),
    );
    expect(status).toBe(201);
    const created = await clientOf(workspace).post(`/execute_flow?projectID=${workspace.project_id}`, {
      agentflow_id: body._id,
      goal: 'g',
    });
    await clientOf(workspace).post(`/execute_flow/${created.body.execution_id}/execute`, {});
    await eventually(async () =>
      expect((await clientOf(workspace).get(`/execute_flow/${created.body.execution_id}`)).body.status).toBe(
        'completed',
      ),
    );
    expect((await endBy(launched, 'SIGKILL')).signal).toBe('SIGKILL');
  }, 480_000);
});

test('without PORT and DATA_DIR, another port than 8080 is used if that is in use, and everything is stored in .data of the working directory', async () => {
  verifies('env.data-dir');
  const other = await listen(createServer(), 8080).catch(() => undefined);
  const [HOME = '', TMPDIR = ''] = ['home', 'tmp'].map((name) => path.join(dataDir, name));
  await Promise.all([HOME, TMPDIR].map((folder) => mkdir(folder)));
  const launched = launch('', { HOME, TMPDIR, SECRETS_KEY: '' }, [], { cwd: dataDir });
  const [, port = ''] = await launched.says(/Port 8080 is in use: the API takes (\d+)/);
  await launched.says(farewell);
  expect((await fetch(`http://localhost:${port}/readyz`)).status).toBe(200);
  await endBy(launched, 'SIGINT');
  await other?.close();
  expect((await readdir(dataDir)).sort()).toEqual(['.data', 'home', 'tmp']);
  expect([await readdir(HOME), await readdir(TMPDIR)]).toEqual([[], []]);
  const kept = path.join(dataDir, '.data');
  expect(await readdir(kept)).toEqual(expect.arrayContaining(['blobs', 'logs', 'secrets.key', 'workspace.json']));
  const workspace = JSON.parse(await readFile(path.join(kept, 'workspace.json'), 'utf8')) as Workspace;
  expect(workspace.base_url).toBe(`http://localhost:${port}`);
});

test('with an empty environment the API uses port 8080 and localhost, and stores its data in .data', () => {
  verifies('env.port', 'env.base-url', 'env.data-dir');
  expect(loadConfig({})).toMatchObject({ port: 8080, baseUrl: undefined, dataDir: path.resolve('.data') });
});

describe('invalid settings', () => {
  test('end the start with one sentence if PORT is in use', async () => {
    const other = await listen(createServer());
    const launched = launch(dataDir, { PORT: String(other.port) });
    expect((await launched.ended).code).toBe(1);
    expect(launched.stderr()).toBe(`Port ${other.port}, which was asked for PORT, is in use.\n`);
    await other.close();
  });

  test.each([
    [{ PORT: 'http' }, /^PORT must be a port number from 0 to 65535\.\n$/],
    [{ MONGODB_URI: 'mongodb://127.0.0.1:9/service' }, /^The MongoDB that MONGODB_URI names does not answer/],
    [{ LOG_LEVEL: 'loud' }, /The (API|worker) ended while it started[^]*LOG_LEVEL/],
  ])('%j end the start with the reason', async (env: Record<string, string>, message) => {
    verifies('env.invalid-refused');
    const launched = launch(dataDir, { PORT: await freePort(), ...env });
    expect((await launched.ended).code).toBe(1);
    expect(launched.stderr()).toMatch(message);
    await eventually(() => expect(launched.processes()).toEqual([]));
  });

  test('leave an invalid workspace.json unchanged and name it', async () => {
    const file = path.join(dataDir, 'workspace.json');
    await writeFile(file, '{}');
    const launched = launch(dataDir, { PORT: await freePort() });
    expect((await launched.ended).code).toBe(1);
    expect(launched.stderr()).toBe(`${file} is not a workspace file; move it away to seed a new one.\n`);
    expect(await readFile(file, 'utf8')).toBe('{}');
  });
});
