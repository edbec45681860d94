import { describe, expect, test } from '@jest/globals';
import { createKnowledgeUploadActivities } from '../../../../activities/knowledge-upload.js';
import { createExtraction } from '../../../../src/domain/knowledge/extraction.js';
import { createFiles } from '../../../../src/domain/files/create-files.js';
import { newId } from '../../../../src/base/ids.js';
import { knowledgeUploadWorkflowId } from '../../../../workflows/knowledge-upload/messages.js';
import { activityEnvironment } from '../../../support/activity-environment.js';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { bearerClient } from '../../../support/gateway.js';
import { useOwnApp } from '../../../support/own-app.js';
import { ownProduct } from '../../../support/own-product.js';
import { verifies } from '../../../support/verifies.js';
import { file, send, type Part } from '../../../support/uploads.js';
import { longText, pdfOf } from './documents.js';

const deps = useDeps();
const queue = { TEMPORAL_TASK_QUEUE: `upload-${newId()}` };
/** Only the worker is killed: the API runs in this process. */
const [app, killed] = [useOwnApp(queue), ownProduct(queue)];

async function upload({ api, projectID }: Workspace, ...parts: Part[]): Promise<any[]> {
  const { status, body } = await send(api, `/knowledge_base/${projectID}/upload`, parts);
  expect([status, body]).toEqual([202, { data: expect.anything() }]);
  return body.data;
}

const progressOf = async ({ api, projectID }: Workspace, id: string) =>
  (await api.get(`/knowledge_base/${projectID}/upload/${id}`)).body;

function ended(workspace: Workspace, id: string, status: string): Promise<any> {
  return eventually(async () => {
    const body = await progressOf(workspace, id);
    expect(body).toMatchObject({ status });
    return body;
  });
}

async function found({ apiKey, api }: Workspace, query: string): Promise<any[]> {
  return eventually(async () => {
    const { status, body } = await bearerClient(apiKey, api.url).post('/v1/query-context', { query });
    expect([status, body]).toEqual([200, body]);
    return body.entities as any[];
  });
}

async function count({ projectID }: Workspace, pattern: string, parameters: object = {}): Promise<number> {
  const { records } = await deps.graph.driver.executeQuery(`MATCH ${pattern} RETURN count(*) AS n`, {
    projectID,
    ...parameters,
  });
  return records[0]?.get('n') as number;
}

const chunksIn = (workspace: Workspace) =>
  count(workspace, '(c:DocumentChunk {project_id: $projectID})-[:PART_OF]->(:Document {project_id: $projectID})');

describe('POST /knowledge_base/{projectID}/upload', () => {
  test('accepts text, Markdown, HTML, CSV and PDF, whose chunks full-text search finds, with provenance', async () => {
    verifies('platform.knowledge-base.upload', 'knowledge-base.chunks');
    const workspace = await createWorkspace(deps);
    const documents = await upload(
      workspace,
      file('notes.txt', 'The zeppelin lands at noon.'),
      file('guide.md', '# Animals\n\nThe quokka smiles.\n\n# Plants\n\nThe baobab is old.'),
      file('page.html', '<html><body><h1>Minerals</h1><p>Malachite is green.</p></body></html>'),
      file('table.csv', 'name,city\nHortensia,Tromsø\n'),
      file('paper.pdf', pdfOf(['Nothing here', 'The ornithopter flaps'])),
      file('utf-16.txt', Buffer.from('\uFEFFThe dirigible drifts.', 'utf16le')),
    );
    expect(documents.map(({ file: { mime_type }, failure }) => [mime_type, failure])).toEqual(
      ['text/plain', 'text/markdown', 'text/html', 'text/csv', 'application/pdf', 'text/plain'].map((type) => [
        type,
        null,
      ]),
    );
    for (const each of documents) {
      expect(each.workflow_id).toBe(knowledgeUploadWorkflowId(each.file._id));
      const { chunks } = await ended(workspace, each.file._id, 'completed');
      expect(chunks.total).toBeGreaterThan(0);
      expect(chunks.done).toBe(chunks.total);
    }
    for (const [at, question, properties] of [
      [0, 'when does the zeppelin land?', { text: 'The zeppelin lands at noon.', position: 1 }],
      [1, 'where is the baobab?', { heading: 'Plants', position: 2 }],
      [2, 'malachite colour', { heading: 'Minerals' }],
      [3, 'Hortensia', { text: 'name: Hortensia\ncity: Tromsø' }],
      [4, 'ornithopter', { page: 2, text: 'The ornithopter flaps' }],
      [5, 'dirigible', { text: 'The dirigible drifts.' }],
    ] as const) {
      const [best] = await found(workspace, question);
      const { _id, name } = documents[at]?.file ?? {};
      expect(best).toMatchObject({ type: 'DocumentChunk', properties: { ...properties, document: name } });
      expect(best.id).toMatch(new RegExp(`^${_id}:\\d+$`));
      expect(best.provenance).toMatchObject({
        saved_by: 'service:knowledge-upload',
        source: `file ${_id} (${name})`,
        recorded_at: expect.any(Number),
      });
    }
    const [best] = await found(await createWorkspace(deps), 'ornithopter');
    expect(best).toBeUndefined();
    // The lifecycle is stored after the documents are shown as completed.
    await eventually(async () => {
      const lifecycle = await deps.mongo.collections.lifecycles.findOne({
        project_id: workspace.projectID,
        tool: 'knowledge-upload',
      });
      expect(lifecycle).toMatchObject({ status: 'completed' });
      expect(await deps.mongo.collections.audit_entries.countDocuments({ lifecycle_id: lifecycle?._id ?? '' })).toBe(1);
    });
  });

  test('shows progress on its route, in the workflow and in the Temporal UI', async () => {
    verifies('knowledge-base.chunks');
    const workspace = await createWorkspace(deps);
    const [{ file: made, workflow_id }] = (await upload(
      workspace,
      file(
        'long.txt',
        longText(500, (at) => `word${at}`),
      ),
    )) as [any];
    const handle = deps.temporal.client.workflow.getHandle(workflow_id);
    const { chunks } = await ended(workspace, made._id, 'completed');
    expect(await handle.result()).toEqual({ chunks: chunks.total, removed: false });
    expect(await handle.query('state')).toEqual({ total: chunks.total, done: chunks.total, removing: false });
    const metadata: any = await handle.query('__temporal_workflow_metadata');
    expect(metadata.currentDetails).toBe(`Document \`long.txt\`: ${chunks.total} of ${chunks.total} chunks`);
    expect(await chunksIn(workspace)).toBe(chunks.total);
  });

  test.each([
    [
      'a picture',
      file('a.txt', Buffer.from('GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;', 'latin1')),
      /image\/gif/,
    ],
    ['bytes', file('a.pdf', Buffer.from([0, 1, 2, 3])), /not an unknown format/],
  ])('refuses %s by its type, with all other files of the upload', async (_, part, type) => {
    verifies('platform.knowledge-base.upload');
    const workspace = await createWorkspace(deps);
    const answer = await send(workspace.api, `/knowledge_base/${workspace.projectID}/upload`, [
      file('good.txt', 'text'),
      part,
    ]);
    expect(answer).toMatchObject({
      status: 422,
      body: { error: 'validation_failed', error_description: expect.stringMatching(type) },
    });
    expect(await deps.mongo.collections.files.countDocuments({ projectID: workspace.projectID })).toBe(0);
  });

  test('fails a PDF that cannot be read, says why, and keeps nothing of it', async () => {
    verifies('platform.knowledge-base.upload');
    const workspace = await createWorkspace(deps);
    const [{ file: made, workflow_id }] = (await upload(workspace, file('broken.pdf', '%PDF-1.7\n1 0 obj\n<<'))) as [
      any,
    ];
    const body = await ended(workspace, made._id, 'failed');
    expect(body).toMatchObject({
      failure: expect.stringMatching(/the PDF cannot be read/),
      file: { status: 'failed', url: '' },
    });
    await expect(deps.temporal.client.workflow.getHandle(workflow_id).result()).rejects.toMatchObject({
      cause: { type: 'validation_failed', message: body.failure },
    });
    await expect(deps.files.store.read(made.location)).rejects.toMatchObject({ code: 'not_found' });
    expect((await workspace.api.delete(`/file/${workspace.projectID}/${made._id}`)).status).toBe(200);
  });

  test('respects project, plan and key', async () => {
    const [mine, theirs] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    expect(await send(mine.api, `/knowledge_base/${theirs.projectID}/upload`, [file('a.txt', 'x')])).toMatchObject({
      status: 403,
    });
    const [{ file: made }] = (await upload(theirs, file('a.txt', 'x'))) as [any];
    expect((await mine.api.get(`/knowledge_base/${mine.projectID}/upload/${made._id}`)).status).toBe(404);
    expect((await mine.api.get(`/knowledge_base/${theirs.projectID}/upload/${made._id}`)).status).toBe(403);
    const { body } = await send(mine.api, `/file/${mine.projectID}`, [file('a.txt', 'x')]);
    expect((await mine.api.get(`/knowledge_base/${mine.projectID}/upload/${body.data[0]._id}`)).status).toBe(404);
  });

  test('reads a document once for one Idempotency-Key', async () => {
    const workspace = await createWorkspace(deps);
    const key = { 'idempotency-key': newId() };
    const path = `/knowledge_base/${workspace.projectID}/upload`;
    const parts = [file('a.txt', 'the same words')];
    const answers = await Promise.all([send(workspace.api, path, parts, key), send(workspace.api, path, parts, key)]);
    const ids = answers.map(({ body }) => body.data[0].file._id);
    expect(ids[0]).toBe(ids[1]);
    await ended(workspace, ids[0], 'completed');
    expect(await chunksIn(workspace)).toBe(1);
  });
});

describe('DELETE /file/{projectID}/{file_id} of a document', () => {
  test('deletes its chunks and no others', async () => {
    verifies('knowledge-base.removed');
    const workspace = await createWorkspace(deps);
    const [gone, stays] = (await upload(
      workspace,
      file(
        'gone.txt',
        longText(700, () => 'ephemeral'),
      ),
      file('stays.txt', 'perennial'),
    )) as [any, any];
    await Promise.all([ended(workspace, gone.file._id, 'completed'), ended(workspace, stays.file._id, 'completed')]);
    expect(await chunksIn(workspace)).toBeGreaterThan(500);
    expect((await workspace.api.delete(`/file/${workspace.projectID}/${gone.file._id}`)).status).toBe(200);
    await eventually(async () => expect(await chunksIn(workspace)).toBe(1));
    await eventually(async () =>
      expect(await count(workspace, '(d:Document {project_id: $projectID, id: $id})', { id: gone.file._id })).toBe(0),
    );
    expect(
      (await found(workspace, 'ephemeral'))
        .filter(({ type }) => type === 'DocumentChunk')
        .filter(({ id }) => id.startsWith(gone.file._id)),
    ).toEqual([]);
    expect((await found(workspace, 'perennial'))[0]).toMatchObject({ id: `${stays.file._id}:1` });
    expect((await workspace.api.get(`/knowledge_base/${workspace.projectID}/upload/${gone.file._id}`)).status).toBe(
      404,
    );
  });

  test('leaves nothing of it while it is still being written', async () => {
    verifies('knowledge-base.removed');
    const workspace = await createWorkspace(deps);
    const [{ file: made, workflow_id }] = (await upload(
      workspace,
      file(
        'long.txt',
        longText(1500, () => 'fleeting'),
      ),
    )) as [any];
    await eventually(async () => expect((await progressOf(workspace, made._id)).chunks.done).toBeGreaterThan(0), {
      everyMs: 10,
    });
    expect((await workspace.api.delete(`/file/${workspace.projectID}/${made._id}`)).status).toBe(200);
    expect(await deps.temporal.client.workflow.getHandle(workflow_id).result()).toEqual({ chunks: 0, removed: true });
    expect(await count(workspace, '(n:Entity {project_id: $projectID})')).toBe(0);
    expect((await workspace.api.get(`/file/${workspace.projectID}/${made._id}`)).status).toBe(404);
  });
});

describe('a worker that is killed', () => {
  test('duplicates no chunk: another worker continues the batch', async () => {
    verifies('knowledge-base.chunks');
    const first = await killed.worker();
    const workspace = app.through(await createWorkspace(deps));
    const [{ file: made }] = (await upload(
      workspace,
      file(
        'long.txt',
        longText(2000, (at) => `word${at}`),
      ),
    )) as [any];
    await eventually(async () => expect((await progressOf(workspace, made._id)).chunks.done).toBeGreaterThan(0), {
      everyMs: 10,
    });
    await first.end('SIGKILL');
    expect((await progressOf(workspace, made._id)).status).toBe('running');
    await killed.worker();
    const { chunks } = await ended(workspace, made._id, 'completed');
    expect([await chunksIn(workspace), chunks.done]).toEqual([chunks.total, chunks.total]);
    const store = createFiles({ ...deps, collections: deps.mongo.collections, box: deps.auth.box }).store;
    await expect(store.read(`${made.location}.chunks-0`)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a document whose chunks could not all be written', () => {
  test('leaves no batch behind', async () => {
    verifies('knowledge-base.nothing-left');
    const workspace = await createWorkspace(deps);
    const [{ file: made }] = await upload(
      workspace,
      file(
        'long.txt',
        longText(500, (at) => `word${at}`),
      ),
    );
    await ended(workspace, made._id, 'completed');
    const written: string[] = [];
    const store: typeof deps.files.store = {
      ...deps.files.store,
      write: (location, source) =>
        written.push(location) > 1
          ? Promise.reject(new Error('the store is full'))
          : deps.files.store.write(location, source),
    };
    const activities = createKnowledgeUploadActivities({
      ...deps,
      files: { ...deps.files, store },
      extract: createExtraction(),
      remember: async () => undefined,
    });
    const input = {
      project_id: workspace.projectID,
      organization_id: workspace.organizationId,
      file_id: made._id as string,
      name: 'long.txt',
      lifecycle_id: newId(),
    };
    await expect(activityEnvironment().run(activities.extractChunks, input)).rejects.toThrow();
    expect(written.length).toBeGreaterThan(1);
    await activityEnvironment().run(activities.finishKnowledge, {
      upload: input,
      started_at: 1,
      total: 0,
      batches: 0,
      failure: 'the store is full',
    });
    for (const location of written)
      await expect(deps.files.store.read(location)).rejects.toMatchObject({ code: 'not_found' });
  });
});
