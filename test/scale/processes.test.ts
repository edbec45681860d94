import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { packageRoot } from '../../src/base/packages.js';
import { startS3, type S3Server } from '../support/s3-server.js';
import { apiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { moveExecution, prepareExecution, runOf, startExecution, untilExecution } from '../support/executions.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { bearerClient } from '../support/gateway.js';
import { ownProduct } from '../support/own-product.js';
import type { Api, ProductProcess } from '../support/processes.js';
import { testRun } from '../support/run.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
/** Each process has its own folder, as on a separate machine; all share the servers, a bucket and the key. */
const folder = mkdtempSync(path.join(tmpdir(), 'scale-'));
const settings: Record<string, string> = {};
const product = ownProduct(settings);
let s3: S3Server;
const sink = await useHttpSink();
let apis: [Api, Api];
let workers: [ProductProcess, ProductProcess];

beforeAll(async () => {
  s3 = await startS3();
  // The key that sealed the existing data of the run's database.
  const SECRETS_KEY = readFileSync(path.join(testRun().env.DATA_DIR ?? '', 'secrets.key'), 'utf8').trim();
  Object.assign(settings, s3.env, { SECRETS_KEY });
  const inFolder = <T>(name: string, start: () => Promise<T>): Promise<T> => {
    settings.DATA_DIR = path.join(folder, name);
    return start();
  };
  const { api, worker } = product;
  [apis, workers] = await Promise.all([
    Promise.all([inFolder('api-1', api), inFolder('api-2', api)]),
    Promise.all([inFolder('worker-1', worker), inFolder('worker-2', worker)]),
  ]);
});
afterAll(async () => {
  await s3.close();
  rmSync(folder, { recursive: true });
});

/** The same workspace through each of the API processes. */
async function workspaces(): Promise<[Workspace, Workspace]> {
  const workspace = await createWorkspace(deps);
  return [product.through(apis[0], workspace), product.through(apis[1], workspace)];
}

/** The process ids of the workers that took part in a run. */
async function workersOf(id: string): Promise<Set<string>> {
  const { events } = await runOf(deps, id).fetchHistory();
  const identities = (events ?? []).flatMap((event) => [
    event.activityTaskStartedEventAttributes?.identity,
    event.workflowTaskStartedEventAttributes?.identity,
  ]);
  return new Set(identities.flatMap((identity) => identity?.split('@')[0] ?? []));
}

describe('two API processes and two workers that share only the servers and a bucket', () => {
  test('create an execution with a large document on one, execute it on the other, pause it on the first and resume it on the other', async () => {
    verifies('scale.several-processes');
    const [one, other] = await workspaces();
    const held = `/${one.projectID}`;
    const release = sink.hold(held);
    const files = [{ name: 'long.txt', content: 'A sentence about the sink. '.repeat(12_000) }];
    const { execution_id: id } = await prepareExecution(
      one,
      flowThatCalls([`${sink.url}${held}/a`], [`${sink.url}${held}/b`]),
      { files },
    );
    expect(await moveExecution(other, id, 'execute')).toMatchObject({ status: 200 });
    await eventually(() => expect(sink.seen(held)).toHaveLength(1));
    expect(await moveExecution(one, id, 'pause')).toMatchObject({ status: 200 });
    release();
    await untilExecution(other, id, 'paused');
    expect(await moveExecution(other, id, 'resume')).toMatchObject({ status: 200 });
    const ended = await untilExecution(one, id, 'completed');
    expect(ended.conclusion.conclusion).toContain('A sentence about the sink');
    expect(await s3.objects('blobs/')).not.toEqual([]);
  });

  test('both workers run a part of the executions', async () => {
    verifies('scale.several-processes');
    const [one, other] = await workspaces();
    const seen = new Set<string>();
    await eventually(async () => {
      const ids = await Promise.all(
        [one, other, one, other].map((workspace) => startExecution(workspace, flowThatCalls([]))),
      );
      for (const id of ids) {
        await untilExecution(one, id, 'completed');
        for (const pid of await workersOf(id)) seen.add(pid);
      }
      expect([...seen].sort()).toEqual(workers.map(({ child }) => String(child.pid)).sort());
    });
  });

  test('a call held on one is approved on the other, and repeated on the first', async () => {
    verifies('scale.several-processes');
    const workspace = await createWorkspace(deps);
    const first = bearerClient(workspace.apiKey, apis[0].url);
    const approver = bearerClient(await createKey(deps, { ...workspace, userId: newId() }), apis[1].url);
    const policies = [
      { policy_id: 'all', effect: 'permit' },
      { policy_id: 'ask', effect: 'require_approval', tools: ['save-context'] },
    ];
    expect(await approver.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
    const saved = { entities: [{ id: 'one', type: 'Thing', name: 'one' }] };
    const heldCall = await first.post('/v1/save-context', saved);
    expect(heldCall).toMatchObject({ status: 202, body: { approval_id: expect.any(String) } });
    const address = `/v1/approvals/${String(heldCall.body.approval_id)}`;
    expect(await approver.post(`${address}/approve`, {})).toMatchObject({ status: 200 });
    const token = await eventually(async () => {
      const { body } = await first.get(address);
      expect(body).toHaveProperty('resume_token');
      return body.resume_token as string;
    });
    expect(await first.post('/v1/save-context', saved, { 'x-resume-token': token })).toMatchObject({ status: 200 });
  });

  test('a command creates the first workspace once for all processes', async () => {
    verifies('scale.several-processes');
    const command = path.join(packageRoot, 'dist/src/cli/seed.js');
    const env = { PATH: process.env.PATH, ...product.env, NODE_ENV: 'production', DATA_DIR: path.join(folder, 'seed') };
    const { stdout } = await promisify(execFile)(process.execPath, [command], { env });
    const { api_key: key, project_id: id } = JSON.parse(stdout) as { api_key: string; project_id: string };
    for (const api of apis) {
      const { body } = await apiClient(api.url, { 'x-api-key': key }).get('/v1/project');
      expect(body.data.map(({ _id }: { _id: string }) => _id)).toEqual([id]);
    }
  });

  test('the first process can stop: the others continue its work', async () => {
    verifies('scale.several-processes');
    const [one, other] = await workspaces();
    const held = `/${one.projectID}`;
    const release = sink.hold(held);
    const id = await startExecution(one, flowThatCalls([`${sink.url}${held}`], []));
    await eventually(() => expect(sink.seen(held)).not.toEqual([]));
    expect(await moveExecution(one, id, 'pause')).toMatchObject({ status: 200 });
    release();
    await untilExecution(other, id, 'paused');
    await Promise.all([apis[0].end('SIGKILL'), workers[0].end('SIGKILL')]);
    expect(await moveExecution(other, id, 'resume')).toMatchObject({ status: 200 });
    await untilExecution(other, id, 'completed');
    expect([...(await workersOf(id))]).toContain(String(workers[1].child.pid));
  });
});
