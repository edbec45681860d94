import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { catalogSyncWorkflowId, stateQuery } from '../../../workflows/catalog-sync/messages.js';
import { codeSyncWorkflowId } from '../../../workflows/code-sync/messages.js';
import { bindRepository, moveRepository } from '../../../src/domain/connectors/operations/repositories.js';
import { newId } from '../../../src/base/ids.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { ownProduct } from '../../support/own-product.js';
import type { Api } from '../../support/processes.js';
import { verifies } from '../../support/verifies.js';
import { hmac, rawExchange, secrets, statusIn } from './harness.js';

const deps = useDeps();
const environment: Record<string, string> = {
  DOWNSTREAM_PORT: '0',
  CODESYNC_WEBHOOK_SECRET: secrets.codesync,
  CATALOG_WEBHOOK_SECRET: secrets.catalog,
  CATALOG_SERVER_KEY: secrets.serverKey,
  CATALOG_QUIET_WINDOW_MS: '600000',
  CATALOG_LONGEST_WAIT_MS: '600000',
};
const product = ownProduct(environment);
let workspace: Workspace;
let api: Api;
/** An API without any secret. */
let open: Api;
beforeAll(async () => {
  workspace = await createWorkspace(deps);
  environment.CATALOG_PROJECT_ID = workspace.projectID;
  api = await product.api();
  for (const name of ['CODESYNC_WEBHOOK_SECRET', 'CATALOG_WEBHOOK_SECRET', 'CATALOG_SERVER_KEY'])
    environment[name] = '';
  open = await product.api();
});

async function send(to: Api, path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const answer = await fetch(to.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body as never,
  });
  return { status: answer.status, body: (await answer.json()) as any };
}

const github = '/v1/codesync/webhook/github';
const catalog = '/v1/catalog/om/webhook';
const ingest = '/v1/internal/catalog/ingest';

async function bind(
  branch: string | null = null,
  projectId = workspace.projectID,
  repository = `octo/${newId()}`,
): Promise<string> {
  const { organizationId } = workspace;
  const binding = { repository, branch, projectId, organizationId, userId: 'x' };
  await bindRepository(deps.mongo.collections, deps.auth.box, binding);
  return repository;
}

/** The same project with a key that can bind repositories. */
async function codesyncKey(of: Workspace): Promise<Workspace> {
  return { ...of, apiKey: await createKey(deps, of, { grants: ['svc:codesync.write'] }) };
}

const commit = {
  id: 'a'.repeat(40),
  message: 'Fix',
  timestamp: '2026-01-02T03:04:05Z',
  author: { name: 'Ada', email: 'ada@example.com' },
  added: ['a.ts'],
  modified: [],
  removed: [],
};
const pushOf = (repository: string, branch = 'main') =>
  JSON.stringify({
    ref: `refs/heads/${branch}`,
    after: commit.id,
    repository: { full_name: repository },
    commits: [commit],
  });
const push = (to: Api, body: string, headers: Record<string, string> = {}) =>
  send(to, github, body, {
    'x-github-event': 'push',
    'x-github-delivery': newId(),
    'x-hub-signature-256': `sha256=${hmac(secrets.codesync, body)}`,
    ...headers,
  });
const digestOf = (body: string) => createHash('sha256').update(body).digest('hex');
const isStarted = (body: string, projectId = workspace.projectID) =>
  deps.temporal.client.workflow
    .getHandle(codeSyncWorkflowId(projectId, digestOf(body)))
    .describe()
    .then(
      () => true,
      () => false,
    );

describe(`POST ${github}`, () => {
  test('accepts a signed push of a bound repository and starts its sync in each project that follows it', async () => {
    verifies('callbacks.codesync');
    const repository = await bind();
    const other = await createWorkspace(deps, { organizationId: workspace.organizationId });
    await bind('main', other.projectID, repository);
    const body = pushOf(repository.toUpperCase());
    expect(await push(api, body)).toEqual({ status: 200, body: { status: 'accepted' } });
    expect([await isStarted(body), await isStarted(body, other.projectID)]).toEqual([true, true]);
  });

  test('refuses a missing, malformed and wrong signature in the same way before parsing', async () => {
    verifies('env.callback-secrets', 'errors.code.invalid_signature', 'callbacks.codesync.signature');
    const body = pushOf(await bind());
    const right = hmac(secrets.codesync, body);
    const wrong = [
      '',
      'sha256=',
      right,
      `sha1=${right}`,
      `sha256=${right}0`,
      `sha256=${right.slice(2)}`,
      `sha256=${hmac('other', body)}`,
      `sha256=${'z'.repeat(64)}`,
      `sha256=${right}, sha256=${right}`,
    ];
    for (const signature of wrong) {
      expect([signature, await push(api, body, { 'x-hub-signature-256': signature })]).toMatchObject([
        signature,
        {
          status: 401,
          body: { error: 'invalid_signature', error_description: expect.stringContaining('signature mismatch') },
        },
      ]);
    }
    expect((await send(api, github, '{ no json', { 'x-github-event': 'push' })).status).toBe(401);
    const spaced = JSON.stringify(JSON.parse(body), null, 1);
    expect((await push(api, spaced, { 'x-hub-signature-256': `sha256=${right}` })).status).toBe(401);
    expect((await push(api, '{ no json')).status).toBe(400);
    expect((await push(api, '{}')).status).toBe(400);
    expect((await push(api, body, { authorization: 'Bearer nonsense' })).status).toBe(200);
  });

  test('accepts unsigned deliveries if no secret is configured', async () => {
    verifies('callbacks.codesync.unsigned');
    const body = pushOf(await bind());
    expect(await send(open, github, body, { 'x-github-event': 'push', 'x-github-delivery': newId() })).toEqual({
      status: 200,
      body: { status: 'accepted' },
    });
  });

  test('ignores events other than pushes, and pushes that no project follows', async () => {
    verifies('callbacks.codesync.other-events');
    const ping = '{"zen": "Keep it logically awesome."}';
    for (const event of ['ping', 'issues', 'pull_request']) {
      const signature = `sha256=${hmac(secrets.codesync, ping)}`;
      expect(
        await send(api, github, ping, { 'x-github-event': event, 'x-hub-signature-256': signature }),
      ).toMatchObject({ status: 200, body: { status: 'ignored' } });
    }
    const repository = await bind('main');
    expect(await push(api, pushOf(repository, 'topic'))).toMatchObject({ status: 200, body: { status: 'ignored' } });
    expect(await isStarted(pushOf(repository, 'topic'))).toBe(false);
    expect(await push(api, pushOf(repository, 'main'))).toMatchObject({ status: 200, body: { status: 'accepted' } });
  });

  test('answers 404 to a push of a repository that is not bound', async () => {
    verifies('errors.code.repo_not_bound', 'callbacks.codesync.unbound');
    const delivery = newId();
    const repository = `octo/${newId()}`;
    expect(await push(api, pushOf(repository), { 'x-github-delivery': delivery })).toMatchObject({
      status: 404,
      body: { error: 'repo_not_bound' },
    });
    await bind(null, workspace.projectID, repository);
    expect(await push(api, pushOf(repository), { 'x-github-delivery': delivery })).toMatchObject({
      status: 200,
      body: { status: 'accepted' },
    });
  });

  test('answers 404 for a repository of a deleted project', async () => {
    verifies('callbacks.codesync.unbound');
    const { projectID } = await createWorkspace(deps);
    const body = pushOf(await bind(null, projectID));
    await deps.mongo.collections.projects.updateOne({ _id: projectID }, { $set: { status: 'deleted' } });
    expect(await push(api, body)).toMatchObject({ status: 404, body: { error: 'repo_not_bound' } });
  });

  test('acknowledges a repeated delivery in any process, and processes it once', async () => {
    verifies('callbacks.deduplicated');
    const body = pushOf(await bind());
    const delivery = { 'x-github-delivery': newId() };
    const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => push(at % 2 ? api : open, body, delivery)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await push(open, body, delivery)).toEqual({ status: 200, body: { status: 'duplicate' } });
    // The signature does not cover the header: the same body under another id is the same delivery.
    expect(await push(api, body)).toEqual({ status: 200, body: { status: 'duplicate' } });
    const { expires_at } = (await deps.mongo.collections.callback_deliveries.findOne({
      _id: `codesync/${digestOf(body)}`,
    })) as any;
    expect(expires_at.getTime() - Date.now()).toBeGreaterThan(23.9 * 3600 * 1000);
    expect((await push(api, body, { ...delivery, 'x-hub-signature-256': 'sha256=0' })).status).toBe(401);
  });

  test('accepts the pushes of a repository for only one organization', async () => {
    verifies('codesync.one-organization');
    const repository = `octo/${newId()}`;
    const rival = await createWorkspace(deps);
    const bindAs = (each: Workspace, extra: object = {}) =>
      product
        .through(api, each)
        .api.post('/v1/bind-repository', { repository, ...extra }, { authorization: `Bearer ${each.apiKey}` });
    const at = await Promise.all([codesyncKey(workspace), codesyncKey(rival)]);
    const [first, second] = await Promise.all(at.map((each) => bindAs(each)));
    const [winner, loser] = first?.status === 200 ? [0, 1] : [1, 0];
    expect([first?.status, second?.status].sort()).toEqual([200, 409]);
    const refused = [first, second][loser];
    expect(refused?.body).toMatchObject({
      error: 'conflict',
      error_description: expect.stringContaining('another organization'),
      lifecycle_id: expect.any(String),
    });
    const body = pushOf(repository);
    expect(await push(api, body)).toMatchObject({ status: 200, body: { status: 'accepted' } });
    expect([await isStarted(body, at[winner]?.projectID), await isStarted(body, at[loser]?.projectID)]).toEqual([
      true,
      false,
    ]);
    const moved = await moveRepository(deps.mongo.collections, repository, at[loser]?.organizationId ?? '');
    expect(moved).toBe(1);
    expect(await bindAs(at[loser] as Workspace)).toMatchObject({ status: 200 });
    expect(await bindAs(at[winner] as Workspace)).toMatchObject({ status: 409 });
  });

  test('issues a secret for each binding once; after its first use no other signature is accepted', async () => {
    verifies('codesync.binding-secret');
    const repository = `octo/${newId()}`;
    const bound = await codesyncKey(workspace);
    const bindIt = async () =>
      (
        await product
          .through(api, bound)
          .api.post('/v1/bind-repository', { repository }, { authorization: `Bearer ${bound.apiKey}` })
      ).body.webhook_secret as string;
    const secret = await bindIt();
    expect(JSON.stringify(await deps.mongo.collections.repository_bindings.findOne({ repository }))).not.toContain(
      secret,
    );
    const bodies = Array.from({ length: 5 }, (_, at) => pushOf(repository, `branch-${at}`));
    const signed = (body: string, by: string, to = api) =>
      push(to, body, { 'x-hub-signature-256': `sha256=${hmac(by, body)}` });
    expect(await signed(bodies[0]!, secrets.codesync)).toMatchObject({ status: 200 });
    expect(await signed(bodies[1]!, secret)).toMatchObject({ status: 200, body: { status: 'accepted' } });
    const form = new URLSearchParams({ payload: bodies[2]! }).toString();
    expect(
      await push(api, form, {
        'content-type': 'application/x-www-form-urlencoded',
        'x-hub-signature-256': `sha256=${hmac(secret, form)}`,
      }),
    ).toMatchObject({ status: 200 });
    for (const wrong of [secrets.codesync, 'other'])
      expect(await signed(bodies[3]!, wrong)).toMatchObject({ status: 401, body: { error: 'invalid_signature' } });
    expect(await send(open, github, bodies[3]!, { 'x-github-event': 'push' })).toMatchObject({ status: 401 });
    const renewed = await bindIt();
    expect(await signed(bodies[4]!, secret)).toMatchObject({ status: 401 });
    expect(await signed(bodies[4]!, renewed)).toMatchObject({ status: 200, body: { status: 'accepted' } });
    // The secret of one repository is not valid for another.
    expect(await signed(pushOf(await bind()), renewed)).toMatchObject({ status: 401 });
  });

  test('also accepts the payload as a form', async () => {
    const repository = await bind();
    const body = new URLSearchParams({ payload: pushOf(repository) }).toString();
    expect(await push(api, body, { 'content-type': 'application/x-www-form-urlencoded' })).toMatchObject({
      status: 200,
      body: { status: 'accepted' },
    });
  });
});

const event = {
  eventType: 'entityUpdated',
  entityType: 'table',
  entityId: newId(),
  entityFQN: 'shop.orders',
  changeType: 'schema',
  timestamp: 1_763_683_200_000,
};
const alert = (body: string, signature = hmac(secrets.catalog, body)) =>
  send(api, catalog, body, { 'x-om-signature': signature });
const syncHandle = () => deps.temporal.client.workflow.getHandle(catalogSyncWorkflowId(workspace.projectID));

describe(`POST ${catalog}`, () => {
  test('ignores events about people, roles and tests', async () => {
    verifies('catalog-sync.ignored');
    const kinds = ['user', 'team', 'bot', 'role', 'policy', 'testCase', 'testSuite', 'USER'];
    for (const entityType of kinds)
      expect(await alert(JSON.stringify({ ...event, entityType }))).toEqual({
        status: 202,
        body: { status: 'accepted' },
      });
    expect(await alert(JSON.stringify(kinds.map((entityType) => ({ ...event, entityType }))))).toMatchObject({
      status: 202,
    });
    expect(await alert('[]')).toMatchObject({ status: 202 });
    await expect(syncHandle().describe()).rejects.toThrow();
  });

  test('accepts one event or an array, and answers before any sync, without a worker', async () => {
    verifies(
      'callbacks.catalog',
      'callbacks.catalog.event',
      'callbacks.catalog.accepted-first',
      'catalog-sync.workflow',
    );
    expect(await alert(JSON.stringify(event))).toEqual({ status: 202, body: { status: 'accepted' } });
    expect(
      await alert(
        JSON.stringify([
          event,
          { ...event, entityType: 'user' },
          { ...event, eventType: 'entityDeleted', unknown: { more: 1 } },
        ]),
      ),
    ).toMatchObject({ status: 202 });
    const { status, type } = await syncHandle().describe();
    expect([status.name, type]).toEqual(['RUNNING', 'catalogSync']);
    const { events } = await syncHandle().fetchHistory();
    expect(events?.filter((each) => each.workflowExecutionSignaledEventAttributes)).toHaveLength(2);
    for (const bad of [
      '{',
      '[{}]',
      '"x"',
      'null',
      '{"eventType": 1, "entityType": "table"}',
      JSON.stringify({ ...event, timestamp: 1.5 }),
    ]) {
      expect([bad, (await alert(bad)).status]).toEqual([bad, 400]);
    }
  });

  test('compares the signature over the received bytes: other spacing is answered 401', async () => {
    verifies('callbacks.catalog.signature');
    const body = JSON.stringify(event);
    expect((await alert(body, `sha256=${hmac(secrets.catalog, body)}`)).status).toBe(202);
    expect(await alert(JSON.stringify(event, null, 2), hmac(secrets.catalog, body))).toMatchObject({
      status: 401,
      body: { error: 'invalid_signature' },
    });
    for (const wrong of ['', 'x', hmac('other', body), `sha1=${hmac(secrets.catalog, body)}`])
      expect((await alert(body, wrong)).status).toBe(401);
  });

  test('answers 503 without a secret', async () => {
    verifies('errors.code.unconfigured', 'callbacks.catalog.unconfigured');
    expect(
      await send(open, catalog, JSON.stringify(event), { 'x-om-signature': hmac('', JSON.stringify(event)) }),
    ).toMatchObject({ status: 503, body: { error: 'unconfigured' } });
  });

  test('shows waiting events to an operator', async () => {
    const worker = await product.worker();
    expect(await syncHandle().query(stateQuery)).toMatchObject({
      pending: { events: expect.any(Number), entities: ['shop.orders'] },
      runs: 0,
    });
    await worker.end('SIGKILL');
    await syncHandle().terminate();
  });
});

describe(`POST ${ingest}`, () => {
  const entities = [
    { id: 'table-1', type: 'Table', name: 'orders', properties: { rows: 12 } },
    { id: 'table-2', type: 'Table', name: 'customers', properties: {} },
  ];
  const input = () => ({
    project_id: workspace.projectID,
    source: 'warehouse',
    entities,
    relationships: [{ from: 'table-1', type: 'FEEDS', to: 'table-2', properties: {} }],
  });
  const key = { 'x-server-key': secrets.serverKey };

  test('writes entities and relationships with provenance, a lifecycle and an audit entry', async () => {
    verifies('callbacks.ingest');
    const answer = await send(api, ingest, JSON.stringify(input()), key);
    expect(answer).toEqual({
      status: 200,
      body: {
        status: 'accepted',
        lifecycle_id: expect.any(String),
        saved: { entities: 2, relationships: 1, facts: 0 },
      },
    });
    const { lifecycle_id } = answer.body;
    const { records } = await deps.graph.driver.executeQuery(
      'MATCH (a:Table {project_id: $projectId})-[r:FEEDS]->(b) RETURN a, b',
      { projectId: workspace.projectID },
    );
    expect(records.map((record) => record.get('a').properties)).toMatchObject([
      { name: 'orders', _source: 'warehouse', _lifecycle_id: lifecycle_id },
    ]);
    expect(await deps.mongo.collections.lifecycles.findOne({ _id: lifecycle_id })).toMatchObject({
      tool: 'catalog-ingest',
      status: 'completed',
      project_id: workspace.projectID,
    });
    expect(await deps.mongo.collections.audit_entries.countDocuments({ lifecycle_id })).toBe(1);
  });

  test('gives a missing and a wrong key the same answer, whatever else is sent', async () => {
    verifies('errors.code.unauthorized', 'callbacks.ingest.server-key');
    const headers: Record<string, string>[] = [
      {},
      { 'x-server-key': '' },
      { 'x-server-key': 'wrong' },
      { 'x-server-key': `${secrets.serverKey}x` },
      { authorization: `Bearer ${secrets.serverKey}` },
      { 'x-api-key': workspace.apiKey },
    ];
    const answers = await Promise.all(headers.map((each) => send(api, ingest, JSON.stringify(input()), each)));
    expect(answers[0]).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await send(open, ingest, JSON.stringify(input()), { 'x-server-key': '' })).toEqual(answers[0]);
    const large = await rawExchange(
      api.port,
      `POST ${ingest} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 20000000\r\n\r\n{`,
    );
    expect(statusIn(large)).toBe(401);
  });

  test('is refused in governed mode like the tool', async () => {
    verifies('operation.governed-mode');
    const { projectID, organizationId } = await createWorkspace(deps);
    await deps.mongo.collections.project_modes.insertOne({
      _id: projectID,
      organization_id: organizationId,
      mode: 'governed',
      updated_at: 1,
      updated_by: 'x',
    });
    const refused = await send(api, ingest, JSON.stringify({ ...input(), project_id: projectID }), key);
    expect(refused).toMatchObject({ status: 403, body: { error: 'S5:policy', lifecycle_id: expect.any(String) } });
  });

  test('names the fault in the body, and refuses unknown projects', async () => {
    expect((await send(api, ingest, 'x', key)).status).toBe(400);
    expect(await send(api, ingest, JSON.stringify({ ...input(), extra: 1 }), key)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    const { projectID: ended } = await createWorkspace(deps);
    await deps.mongo.collections.projects.updateOne({ _id: ended }, { $set: { status: 'deleted' } });
    for (const project_id of [newId(), ended])
      expect((await send(api, ingest, JSON.stringify({ ...input(), project_id }), key)).status).toBe(404);
    const dangling = { ...input(), relationships: [{ from: 'table-1', type: 'FEEDS', to: 'nowhere', properties: {} }] };
    const refused = await send(api, ingest, JSON.stringify(dangling), key);
    expect(refused).toMatchObject({ status: 422, body: { lifecycle_id: expect.any(String) } });
    expect(await deps.mongo.collections.lifecycles.findOne({ _id: refused.body.lifecycle_id })).toMatchObject({
      status: 'denied',
    });
  });
});
