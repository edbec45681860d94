import { describe, expect, test } from '@jest/globals';
import { setPlan } from '../../../src/domain/customers/operations/account.js';
import { newId } from '../../../src/base/ids.js';
import { exampleAgentflow } from '../../../src/domain/agentflows/record/examples.js';
import { createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { createTable } from '../../support/tables.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const columns = [{ column_name: 'Name', column_type: 'string' }];
const { collections } = deps.mongo;
const flow = (change: object = {}) => ({
  name: 'Reader',
  description: 'Reads',
  role: 'reader',
  agents: [
    { _id: 'a', title: 'A', next_agent: 'b', prompt: { template: 'Read {{ goal }}' } },
    { _id: 'b', title: 'B' },
  ],
  ...change,
});

async function made({ api }: Workspace, body: object = flow()): Promise<typeof exampleAgentflow> {
  const answer = await api.post('/agentflow', body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

async function published(workspace: Workspace, agentflow_id: string, headers: Record<string, string> = {}) {
  const answer = await workspace.api.post('/marketplace', { agentflow_id, notes: 'new' }, headers);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

/** Leaves the state of a process that died after it stored the record and before it stored the answer. */
async function loseAnswer(id: object) {
  const lost = { answer: null, leased_until: new Date(0) };
  expect(await collections.idempotency.updateOne(id, { $set: lost })).toMatchObject({ matchedCount: 1 });
}

describe('POST /marketplace', () => {
  test('publishes an agentflow without private data of the publisher', async () => {
    verifies('platform.marketplace.publish');
    const workspace = await createWorkspace(deps);
    const [connector, secret] = [newId(), 'hunter2hunter2'];
    const skills = [
      {
        ...{ name: 'Calls', connector_id: connector, connector_name: 'Mailbox of Grace' },
        actions: [
          {
            name: 'One',
            endpoint: `https://grace:${secret}@claims.example.com/x?api_key=${secret}&page=2&key={{ inputs.key }}`,
          },
          { name: 'Two', endpoint: 'https://claims.example.com/{{ goal }}?sort=date' },
        ],
      },
    ];
    const agent = {
      title: 'A',
      has_knowledge_base: true,
      context: [{ text: `the word is ${secret}` }],
      triggers: [{ connector_id: connector }],
      pre_and_post_execution_input: { secret },
      skills,
    };
    const source = await made(workspace, flow({ agents: [agent] }));
    const publication = await published(workspace, source._id);
    expect(publication).toMatchObject({
      name: 'Reader',
      description: 'Reads',
      role: 'reader',
      latest_version: 1,
      versions: [{ version: 1, notes: 'new' }],
    });
    // A connector that does not exist has no slot.
    expect(publication.slots).toEqual([]);
    const other = await createWorkspace(deps);
    const hired = await other.api.post(
      `/marketplace/coworker/${publication._id}/hire?projectID=${other.projectID}`,
      {},
    );
    expect(hired).toMatchObject({ status: 201 });
    const shown = await other.api.get(`/marketplace/${publication._id}`);
    for (const text of [publication, hired.body, shown.body].map((each) => JSON.stringify(each))) {
      for (const own of [workspace.projectID, workspace.userId, connector, secret, 'Grace', 'grace'])
        expect(text).not.toContain(own);
    }
    const [agentCopy] = hired.body.agents;
    expect(agentCopy).toMatchObject({
      has_knowledge_base: false,
      context: [],
      triggers: [],
      skills: [{ connector_id: null, projectID: other.projectID, user_id: other.userId }],
    });
    expect(agentCopy.skills[0].actions.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual([
      'https://claims.example.com/x?api_key=&page=2&key={{ inputs.key }}',
      'https://claims.example.com/{{ goal }}?sort=date',
    ]);
  });

  test('makes each further publication the next version, without gaps under concurrency, and once for a key', async () => {
    verifies('platform.marketplace.publish');
    const workspace = await createWorkspace(deps);
    const { _id: id } = await made(workspace);
    await Promise.all(Array.from({ length: 5 }, () => published(workspace, id)));
    const key = { 'idempotency-key': newId() };
    const first = await published(workspace, id, key);
    const { request_id } = (await collections.publication_versions.findOne({ marketplace_id: first._id, version: 6 }))!;
    await loseAnswer({ record_id: request_id });
    expect(await published(workspace, id, key)).toEqual(first);
    expect(first).toMatchObject({ latest_version: 6 });
    expect(first.versions.map(({ version }: { version: number }) => version)).toEqual([6, 5, 4, 3, 2, 1]);
  });

  test('accepts only agentflows of the project that have agents', async () => {
    const [workspace, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const [{ _id: id }, { _id: draft }] = await Promise.all([made(workspace), made(workspace, { name: 'Draft' })]);
    expect(await stranger.api.post('/marketplace', { agentflow_id: id })).toMatchObject(refusal(404, 'not_found'));
    await published(workspace, id);
    expect(await stranger.api.post('/marketplace', { agentflow_id: id })).toMatchObject(refusal(404, 'not_found'));
    expect(await workspace.api.post('/marketplace', { agentflow_id: draft })).toMatchObject(
      refusal(422, 'validation_failed'),
    );
    expect(await workspace.api.post('/marketplace', { agentflow_id: id, price: 1 })).toMatchObject(
      refusal(400, 'invalid_request', 'price'),
    );
    expect(await workspace.api.get(`/marketplace/${draft}`)).toMatchObject(refusal(404, 'not_found'));
  });
});

describe('GET /marketplace', () => {
  test('lists the publications of all organizations in pages', async () => {
    verifies('platform.marketplace.list');
    const [workspace, other] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const names = [newId(), newId(), newId()];
    for (const name of names) await published(workspace, (await made(workspace, flow({ name })))._id);
    const seen: { name: string; organization_id: string }[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await other.api.get(`/marketplace?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(body.data.length).toBeLessThanOrEqual(2);
      seen.push(...body.data);
      cursor = seen.filter(({ name }) => names.includes(name)).length === names.length ? null : body.next_cursor;
    }
    const ours = seen.filter(({ organization_id }) => organization_id === workspace.organizationId);
    expect(ours.map(({ name }) => name)).toEqual([...names].reverse());
  });
});

describe('GET /marketplace/{id}', () => {
  test('returns a publication with its versions, which later edits of the agentflow do not change', async () => {
    verifies('platform.marketplace.get');
    const workspace = await createWorkspace(deps);
    const { _id: id } = await made(workspace);
    const publication = await published(workspace, id);
    const get = async () => (await (await createWorkspace(deps)).api.get(`/marketplace/${publication._id}`)).body;
    const before = await get();
    expect(before).toEqual(publication);
    await workspace.api.patch(`/agentflow/${id}`, { name: 'Renamed', agents: [{ title: 'Z' }] });
    expect(await get()).toEqual(before);
    await workspace.api.delete(`/agentflow/${id}`);
    expect(await get()).toEqual(before);
    expect(before).toMatchObject({
      name: 'Reader',
      agentflow: { agents: [{ title: 'A' }, { title: 'B' }] },
      versions: [{ version: 1, published_at: expect.any(Number) }],
    });
    expect(await workspace.api.get(`/marketplace/${newId()}`)).toMatchObject(refusal(404, 'not_found'));
  });

  test('hides a version whose publishing was interrupted, and shows the next one', async () => {
    verifies('platform.marketplace.get');
    const workspace = await createWorkspace(deps);
    const { _id: id } = await made(workspace);
    const publication = await published(workspace, id);
    const [version] = await collections.publication_versions.find({ marketplace_id: publication._id }).toArray();
    await collections.publication_versions.insertOne({
      ...version!,
      _id: `${publication._id}:2`,
      version: 2,
      request_id: newId(),
    });
    expect((await workspace.api.get(`/marketplace/${publication._id}`)).body).toEqual(publication);
    expect((await published(workspace, id)).versions).toMatchObject([{ version: 3 }, { version: 2 }, { version: 1 }]);
  });
});

describe('POST /marketplace/coworker/{id}/hire', () => {
  test('copies the latest version into the project, which then owns it', async () => {
    verifies('platform.marketplace.hire');
    const [workspace, hirer] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const source = await made(workspace);
    const { _id: marketplace_id } = await published(workspace, source._id);
    const key = { 'idempotency-key': newId() };
    const hire = () =>
      hirer.api.post(`/marketplace/coworker/${marketplace_id}/hire?projectID=${hirer.projectID}`, {}, key);
    const hired = await hire();
    expect(hired).toMatchObject({
      status: 201,
      body: {
        name: 'Reader',
        projectID: hirer.projectID,
        organization_id: hirer.organizationId,
        marketplace_id,
        parent_agentflow_id: source._id,
        agents: [{ title: 'A' }, { title: 'B' }],
      },
    });
    expect(hired.body._id).not.toBe(source._id);
    expect(Object.keys(hired.body).sort()).toEqual(Object.keys(exampleAgentflow).sort());
    await loseAnswer({ record_id: hired.body._id });
    expect(await hire()).toEqual({ ...hired, headers: expect.anything() });
    expect(await hirer.api.get('/customer')).toMatchObject({ body: { usage: { number_of_coworkers: 1 } } });
    expect(await hirer.api.patch(`/agentflow/${hired.body._id}`, { name: 'Ours' })).toMatchObject({
      status: 200,
      body: { name: 'Ours', marketplace_id },
    });
    expect((await workspace.api.get(`/agentflow/${source._id}`)).body).toEqual(source);
    const run = await hirer.api.post('/execute_flow', { agentflow_id: hired.body._id, goal: 'g' });
    expect(run).toMatchObject({ status: 201, body: { status: 'ready' } });
  });

  test('counts towards the plan, and refuses unpublished agentflows and projects outside the scope of the credential', async () => {
    verifies('customer.quota-enforced');
    const [workspace, hirer] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const { _id: id } = await published(workspace, (await made(workspace))._id);
    const hire = (query = '') => hirer.api.post(`/marketplace/coworker/${id}/hire${query}`, {});
    await setPlan(collections, hirer.organizationId, { number_of_coworkers: 2 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => hire()));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403, 403, 403]);
    expect(answers.find(({ status }) => status === 403)).toMatchObject(
      refusal(403, 'plan_limit', 'number_of_coworkers: the plan allows 2, 2 are in use'),
    );
    await setPlan(collections, hirer.organizationId, { number_of_coworkers: 9, number_of_agents_per_coworker: 1 });
    expect(await hire()).toMatchObject(refusal(403, 'plan_limit', 'number_of_agents_per_coworker'));
    expect(await hire(`?projectID=${workspace.projectID}`)).toMatchObject(refusal(403, 'access_denied'));
    expect(await hirer.api.post(`/marketplace/coworker/${newId()}/hire`, {})).toMatchObject(refusal(404, 'not_found'));
  });
});

describe('GET /marketplace/coworker/{id}/check_update', () => {
  test('reports by the copy and by the publication whether a newer version is published', async () => {
    verifies('platform.marketplace.check-update');
    const [workspace, hirer, stranger] = await Promise.all([
      createWorkspace(deps),
      createWorkspace(deps),
      createWorkspace(deps),
    ]);
    const { _id: source } = await made(workspace);
    const { _id: id } = await published(workspace, source);
    const check = async ({ api, projectID }: Workspace, which: string) =>
      api.get(`/marketplace/coworker/${which}/check_update?projectID=${projectID}`);
    expect(await check(hirer, id)).toMatchObject(refusal(404, 'not_found'));
    const first = (await hirer.api.post(`/marketplace/coworker/${id}/hire`, {})).body._id as string;
    for (const which of [id, first]) {
      expect(await check(hirer, which)).toMatchObject({
        status: 200,
        body: { update_available: false, hired_version: 1, latest_version: 1 },
      });
    }
    await published(workspace, source);
    for (const which of [id, first]) {
      expect(await check(hirer, which)).toMatchObject({
        status: 200,
        body: { update_available: true, hired_version: 1, latest_version: 2 },
      });
    }
    await hirer.api.post(`/marketplace/coworker/${id}/hire`, {});
    expect(await check(hirer, id)).toMatchObject({ body: { update_available: false, hired_version: 2 } });
    expect(await check(hirer, first)).toMatchObject({ body: { update_available: true, hired_version: 1 } });
    expect(await check(stranger, first)).toMatchObject(refusal(404, 'not_found'));
    expect(await check(hirer, (await made(hirer))._id)).toMatchObject(refusal(404, 'not_found'));
  });
});

describe('the slots of a publication', () => {
  const connector = async ({ api, projectID }: Workspace, host: string) => {
    const config = { base_url: `https://${host}.example` };
    const made = await api.post(`/actions/restful/config?projectID=${projectID}`, { name: 'Mailbox of Grace', config });
    expect(made).toMatchObject({ status: 200 });
    return made.body._id as string;
  };
  const act = (id: string, connector_id: string, next: string | null) => ({
    ...{ _id: id, type: 'action', title: id, connector_id, next },
    action: { name: 'Look', method: 'GET', endpoint: '/claims' },
  });
  const using = (first: string, second: string, table: string) =>
    flow({
      initialAgent: 'look',
      agents: [
        {
          ...{ _id: 'a', title: 'A' },
          skills: [{ _id: 'calls', name: 'Calls', connector_id: second, actions: [{ name: 'One', endpoint: '/x' }] }],
        },
      ],
      steps: [
        act('look', first, 'each'),
        { _id: 'each', type: 'map', title: 'Each', items: { table_id: table }, as: 'row', first: 'again', next: 'a' },
        act('again', second, null),
      ],
    });

  test('take the connectors of the copy, and name none of the publisher', async () => {
    verifies('platform.marketplace.slots');
    const [workspace, hirer] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const [table, ours] = [await createTable(workspace, columns), await createTable(hirer, columns)];
    const [first, second] = await Promise.all(['a', 'b'].map((host) => connector(workspace, host)));
    const source = await made(workspace, using(first ?? '', second ?? '', table._id));
    const publication = await published(workspace, source._id);
    const slots = [
      { name: 'restful', category: 'restful', is_table: false, used_by: ['agents/a/skills/calls', 'steps/again'] },
      { name: 'restful-2', category: 'restful', is_table: false, used_by: ['steps/look'] },
      { name: 'table', category: 'restful', is_table: true, used_by: ['steps/each'] },
    ];
    expect(publication).toMatchObject({ slots, versions: [{ release: null }] });
    const text = JSON.stringify(publication);
    for (const own of [first, second, table._id, 'Grace', 'a.example']) expect(text).not.toContain(own);
    const hire = (body: object) => hirer.api.post(`/marketplace/coworker/${source._id}/hire`, body);
    const chosen = await connector(hirer, 'c');
    const copy = await hire({ slots: { restful: chosen, table: ours.connector_id } });
    expect(copy).toMatchObject({
      status: 201,
      body: {
        agents: [{ skills: [{ connector_id: chosen, connector_name: 'Mailbox of Grace' }] }],
        steps: [{ connector_id: null }, { items: { table_id: ours._id } }, { connector_id: chosen }],
      },
    });
    expect(await hire({})).toMatchObject({ status: 201, body: { steps: [{}, { items: { table_id: 'table' } }, {}] } });
    for (const [body, problem] of [
      [{ slots: { mail: chosen } }, 'slots.mail: there is no such slot; there are restful, restful-2, table'],
      [{ slots: { restful: first } }, 'does not exist in the project'],
      [{ slots: { table: chosen } }, 'slots.table: requires the connector of a table'],
    ] as const)
      expect(await hire(body)).toMatchObject(refusal(422, 'validation_failed', problem));
  });

  test('are those of the release in production, whose later edits are not published', async () => {
    verifies('platform.marketplace.slots');
    const workspace = await createWorkspace(deps);
    const source = await made(workspace);
    expect(await workspace.api.post(`/agentflow/${source._id}/promote`, {})).toMatchObject({ status: 200 });
    await workspace.api.patch(`/agentflow/${source._id}`, { name: 'Unfinished', agents: [{ title: 'Unfinished' }] });
    const publication = await published(workspace, source._id);
    expect(publication).toMatchObject({ name: 'Reader', versions: [{ release: 1 }], slots: [] });
    expect(JSON.stringify(publication)).not.toContain('Unfinished');
  });

  test('do not exist for other agentflows, which a publication does not start', async () => {
    verifies('platform.marketplace.slots');
    const [workspace, hirer] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const child = await made(workspace);
    const starts = (agentflow_id: string) => [{ _id: 's', type: 'flow', title: 'S', agentflow_id }];
    const parent = await made(workspace, flow({ agents: [], initialAgent: 's', steps: starts(child._id) }));
    const refused = await workspace.api.post('/marketplace', { agentflow_id: parent._id });
    expect(refused).toMatchObject(
      refusal(422, 'validation_failed', 'steps.s: starts another agentflow, and a publication contains only one'),
    );
    await workspace.api.patch(`/agentflow/${parent._id}`, { steps: starts(parent._id) });
    await published(workspace, parent._id);
    const copy = await hirer.api.post(`/marketplace/coworker/${parent._id}/hire`, {});
    expect(copy.body.steps).toMatchObject([{ agentflow_id: copy.body._id }]);
  });
});
