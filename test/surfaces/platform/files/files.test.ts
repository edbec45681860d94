import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createApp } from '../../../../src/app.js';
import { createFiles } from '../../../../src/domain/files/create-files.js';
import { maxUploadMs } from '../../../../src/domain/files/end-of-life.js';
import { AppError } from '../../../../src/base/errors.js';
import { newId } from '../../../../src/base/ids.js';
import { moveExecution, prepareExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { eventually } from '../../../support/eventually.js';
import { ownProduct } from '../../../support/own-product.js';
import { listen } from '../../../support/ports.js';
import type { Api } from '../../../support/processes.js';
import { verifies } from '../../../support/verifies.js';
import { file, send, sendBig } from '../../../support/uploads.js';

const deps = useDeps();
const product = ownProduct();
/** The process whose memory is measured, and which is killed after that. */
let api: Api;
beforeAll(async () => {
  api = await product.api();
});
const MiB = 1024 * 1024;

async function uploaded({ api, projectID }: Workspace, fields: { name: string; content: string }[] = []): Promise<any> {
  const { status, body } = await send(api, `/file/${projectID}`, [file('a.txt', 'x'), ...fields]);
  expect(status).toBe(201);
  return body.data[0];
}

describe('GET /file/{projectID}/{file_id}', () => {
  test('returns the record with a new address', async () => {
    verifies('platform.files.get');
    const workspace = await createWorkspace(deps);
    const made = await uploaded(workspace);
    const path = `/file/${workspace.projectID}/${made._id}`;
    const { status, body } = await workspace.api.get(path);
    expect([status, { ...body, url: '' }]).toEqual([200, { ...made, url: '' }]);
    expect((await fetch(body.url)).status).toBe(200);
    expect(await workspace.api.get(`${path}?projectID=${newId()}`)).toMatchObject({ status: 400 });
    for (const id of [newId(), 'nothing', '%2e%2e', encodeURIComponent('{"$gt":""}')]) {
      expect(await workspace.api.get(`/file/${workspace.projectID}/${id}`)).toMatchObject({
        status: 404,
        body: { error: 'not_found' },
      });
    }
  });

  test('hides the file from another project, which cannot delete it', async () => {
    const [mine, theirs] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const { _id, url } = await uploaded(theirs);
    for (const [project, status] of [
      [mine.projectID, 404],
      [theirs.projectID, 403],
    ] as const) {
      const path = `/file/${project}/${_id}`;
      const answers = await Promise.all([mine.api.get(path), mine.api.delete(path), mine.api.get(`${path}/connector`)]);
      expect(answers.map((answer) => answer.status)).toEqual([status, status, status]);
    }
    expect((await fetch(url)).status).toBe(200);
  });
});

describe('the connector of files', () => {
  test('is returned for a file, and lists its files newest first', async () => {
    verifies('platform.files.connector', 'platform.files.by-connector');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const connector = (await api.post('/actions/restful/config', { name: 'Storage', config: { token: 'secret' } }))
      .body;
    const field = [{ name: 'connector_id', content: connector._id }];
    const made = [await uploaded(workspace, field), await uploaded(workspace, field), await uploaded(workspace, field)];
    const alone = await uploaded(workspace);
    expect(await api.get(`/file/${projectID}/${made[0]._id}/connector`)).toMatchObject({
      status: 200,
      body: { _id: connector._id, name: 'Storage', config: { token: '[stored]' } },
    });
    expect(await api.get(`/file/${projectID}/${alone._id}/connector`)).toMatchObject({ status: 404 });

    const list = `/file/${projectID}/connector/${connector._id}`;
    const first = await api.get(`${list}?limit=2`);
    expect(first.body).toMatchObject({ total_count: 3, data: [{ _id: made[2]._id }, { _id: made[1]._id }] });
    const second = await api.get(`${list}?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({ data: [{ _id: made[0]._id }], next_cursor: null });
    await api.delete(`/file/${projectID}/${made[1]._id}`);
    expect((await api.get(list)).body).toMatchObject({ total_count: 2 });
    expect(await api.get(`/file/${projectID}/connector/${newId()}`)).toMatchObject({ status: 404 });
    const stranger = await createWorkspace(deps);
    expect(await stranger.api.get(`/file/${stranger.projectID}/connector/${connector._id}`)).toMatchObject({
      status: 404,
    });
  });
});

describe('a file as a document of an execution', () => {
  test('is read by the run if it is ready and belongs to the project', async () => {
    const workspace = await createWorkspace(deps);
    const { body } = await send(workspace.api, `/file/${workspace.projectID}`, [
      file('plan.md', '# The plan\n\nBuild a bridge.'),
    ]);
    const [made] = body.data;
    const { execution_id, files } = await prepareExecution(workspace, flowThatCalls([]), {
      files: [{ file_id: made._id }, { name: 'b.txt', content: 'inline' }],
    });
    expect(files).toEqual([
      { name: 'plan.md', mime_type: 'text/markdown', location: made.location, store: 'file' },
      { name: 'b.txt', mime_type: 'text/plain', location: expect.any(String) },
    ]);
    await moveExecution(workspace, execution_id, 'execute');
    const ended = await untilExecution(workspace, execution_id, 'completed');
    expect(JSON.stringify(ended.agents_output)).toContain('bridge');
  });

  test.each([
    ['an unknown file', async () => newId(), 404],
    ['a file of another project', async () => (await uploaded(await createWorkspace(deps)))._id, 404],
  ])('cannot be %s', async (_, idOf, status) => {
    const { api, projectID } = await createWorkspace(deps);
    const flow = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls([]));
    const request = { agentflow_id: flow.body._id, goal: 'x', files: [{ file_id: await idOf() }] };
    expect(await api.post(`/execute_flow?projectID=${projectID}`, request)).toMatchObject({ status });
  });
});

describe('storage', () => {
  test('beyond the plan is refused with plan_limit, leaves nothing behind and returns what it reserved', async () => {
    verifies('file.storage-quota');
    const held = new Map<string, number>();
    const most = 20 * MiB;
    const customers = {
      ...deps.customers,
      reserveStorage: async (_organization: string, id: string, bytes: number) => {
        const others = [...held].filter(([each]) => each !== id).reduce((sum, [, size]) => sum + size, 0);
        if (others + bytes > most)
          throw new AppError('plan_limit', `storage_space_in_mb: at most 20, in use ${Math.round(others / MiB)}`);
        held.set(id, bytes);
      },
      releaseStorage: async (_organization: string, id: string) => void held.delete(id),
    };
    const { config, mongo, auth, idempotency } = deps;
    const files = createFiles({ config, collections: mongo.collections, customers, box: auth.box, idempotency });
    let origin = '';
    const app = createApp(
      { ...deps, customers, files },
      { baseUrl: () => origin, condition: () => 'serving', version: '0' },
    );
    const server = await listen(createServer(app));
    origin = server.url;
    try {
      const workspace = await createWorkspace(deps, { url: origin });
      const kept = await sendBig(`${origin}/file/${workspace.projectID}`, workspace.apiKey, 15 * MiB);
      expect(kept.status).toBe(201);
      expect(await sendBig(`${origin}/file/${workspace.projectID}`, workspace.apiKey, 40 * MiB)).toMatchObject({
        status: 403,
        body: { error: 'plan_limit' },
      });
      expect([...held.values()]).toEqual([15 * MiB]);
      const records = await mongo.collections.files.find({ projectID: workspace.projectID }).toArray();
      expect(records.map(({ _id }) => _id)).toEqual([kept.body.data[0]._id]);
      await workspace.api.delete(`/file/${workspace.projectID}/${kept.body.data[0]._id}`);
      expect(held.size).toBe(0);
      expect((await sendBig(`${origin}/file/${workspace.projectID}`, workspace.apiKey, 20 * MiB)).status).toBe(201);
    } finally {
      await server.close();
    }
  });
});

describe('an upload of several files whose process was killed before all of them were ready', () => {
  test('is completed by the sweep, which keeps all files', async () => {
    verifies('file.all-or-none');
    const workspace = await createWorkspace(deps);
    const { body } = await send(workspace.api, `/file/${workspace.projectID}`, [
      file('a.txt', 'x'),
      file('b.txt', 'y'),
      file('c.txt', 'z'),
    ]);
    const ids: string[] = body.data.map(({ _id }: any) => _id);
    const { files } = deps.mongo.collections;
    await files.updateMany({ _id: { $in: ids.slice(1) } }, { $set: { status: 'uploading' } });
    await deps.files.sweep(Date.now() + maxUploadMs + 1000);
    expect(await files.distinct('status', { _id: { $in: ids } })).toEqual(['ready']);
    // If none of the files was ready, none is kept.
    await files.updateMany({ _id: { $in: ids } }, { $set: { status: 'uploading' } });
    await deps.files.sweep(Date.now() + maxUploadMs + 1000);
    expect(await files.distinct('status', { _id: { $in: ids } })).toEqual(['failed']);
  });
});

describe('the memory of an API process', () => {
  test('does not grow with the size of an upload', async () => {
    verifies('file.memory-flat');
    const { projectID, apiKey } = await createWorkspace(deps);
    const resident = () =>
      Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${api.child.pid}/status`, 'utf8'))?.[1]) / 1024;
    const peakOf = async (bytes: number) => {
      let peak = resident();
      expect(
        (await sendBig(`${api.url}/file/${projectID}`, apiKey, bytes, () => (peak = Math.max(peak, resident()))))
          .status,
      ).toBe(201);
      return peak;
    };
    // The first upload can reach the new process before it is connected to MongoDB (503).
    await eventually(() => peakOf(20 * MiB));
    const small = await peakOf(20 * MiB);
    const large = await peakOf(100 * MiB);
    expect(large - small).toBeLessThan(40);
  });
});

describe('an upload whose process was killed', () => {
  test('is failed after the time limit of an upload, and not before', async () => {
    verifies('file.states');
    const workspace = product.through(api, await createWorkspace(deps));
    const sending = sendBig(`${api.url}/file/${workspace.projectID}`, workspace.apiKey, 60 * MiB, (sent) => {
      if (sent === 30 * MiB) api.child.kill('SIGKILL');
    });
    await expect(sending).rejects.toThrow();
    const record = () => deps.mongo.collections.files.findOne({ projectID: workspace.projectID });
    expect(await record()).toMatchObject({ status: 'uploading' });
    await deps.files.sweep();
    expect(await record()).toMatchObject({ status: 'uploading' });
    await deps.files.sweep(Date.now() + maxUploadMs + 1000);
    expect(await record()).toMatchObject({ status: 'failed' });
  });
});
