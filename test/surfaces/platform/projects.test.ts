import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import { apiClient } from '../../support/client.js';
import { createKey, createPersonalWorkspace, createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const unique = () => `name ${newId()}`;
const idsOf = (answer: { body: { data: { _id: string }[] } }) => answer.body.data.map(({ _id }) => _id);

async function create(workspace: Workspace, name = unique()) {
  const answer = await workspace.api.post('/v1/project', { name });
  expect(answer.status).toBe(201);
  return answer.body as { _id: string; name: string };
}

async function withKey(workspace: Workspace, options: Parameters<typeof createKey>[2]) {
  return apiClient(workspace.api.url, { 'x-api-key': await createKey(deps, workspace, options) });
}

describe('POST /v1/project', () => {
  test('creates a project of the organization for its caller', async () => {
    verifies('platform.projects.create');
    const { api, organizationId, departmentId, userId } = await createWorkspace(deps);
    const name = unique();
    const before = Date.now() / 1000;
    const made = await api.post('/v1/project', {
      name: `  ${name} `,
      description: 'for claims',
      organization_id: organizationId,
    });
    expect(made).toMatchObject({
      status: 201,
      body: {
        name,
        description: 'for claims',
        organization_id: organizationId,
        department_id: departmentId,
        user_id: userId,
        status: 'active',
      },
    });
    expect(made.body.created_at).toBeGreaterThanOrEqual(before);
    expect(made.body.updated_at).toBe(made.body.created_at);
    expect((await api.get(`/v1/project/${made.body._id}`)).body).toEqual(made.body);
    expect(await api.post('/v1/project', { name: unique() })).toMatchObject({ status: 201, body: { description: '' } });
  });

  test.each([
    ['name', {}],
    ['name', { name: ' ' }],
    ['name', { name: 7 }],
    ['name', { name: 'x'.repeat(201) }],
    ['description', { name: 'a', description: null }],
    ['organization_id', { name: 'a', organization_id: ['a'] }],
    ['colour', { name: 'a', colour: 'red' }],
    ['body', ['a']],
  ])('refuses an invalid %s and stores nothing: %j', async (field, body) => {
    verifies('platform.errors.unknown-field', 'platform.errors.wrong-type');
    const { api } = await createWorkspace(deps);
    expect(await api.post('/v1/project', body)).toMatchObject(refusal(400, 'invalid_request', field));
    expect((await api.get('/v1/project')).body.total_count).toBe(1);
  });

  test('refuses another organization, and roles below the organization', async () => {
    const { api } = await createWorkspace(deps);
    expect(await api.post('/v1/project', { name: unique(), organization_id: newId() })).toMatchObject(
      refusal(403, 'access_denied', 'organization_id'),
    );
    const narrow = await createWorkspace(deps, { role: 'PROJECT_ADMIN' });
    expect(await narrow.api.post('/v1/project', { name: unique() })).toMatchObject(refusal(403, 'access_denied'));
  });

  test('keeps names unique within an organization, also under concurrent calls', async () => {
    const [here, there] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const name = unique();
    const answers = await Promise.all(Array.from({ length: 6 }, () => here.api.post('/v1/project', { name })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)).toMatchObject(refusal(409, 'conflict', name));
    await create(there, name);
  });

  test('returns the first record to a repeat with the same Idempotency-Key', async () => {
    verifies('platform.idempotency.replay', 'platform.idempotency.other-body');
    const { api } = await createWorkspace(deps);
    const key = { 'idempotency-key': newId() };
    const body = { name: unique() };
    const first = await api.post('/v1/project', body, key);
    expect(await api.post('/v1/project', body, key)).toMatchObject({ status: 201, body: first.body });
    expect(await api.post('/v1/project', { name: unique() }, key)).toMatchObject(
      refusal(409, 'conflict', 'Idempotency-Key'),
    );
    expect((await api.get('/v1/project')).body.total_count).toBe(2);
  });

  test('creates one record from concurrent calls, and from a repeat after a crash', async () => {
    verifies('platform.idempotency.replay');
    const { api } = await createWorkspace(deps);
    const key = { 'idempotency-key': newId() };
    const body = { name: unique() };
    const answers = await Promise.all(Array.from({ length: 5 }, () => api.post('/v1/project', body, key)));
    const [first] = answers;
    for (const answer of answers) expect(answer).toMatchObject({ status: 201, body: first?.body });
    // The state of a process that died after it stored the record and before it stored the answer.
    const lost = { answer: null, leased_until: new Date(0) };
    const { matchedCount } = await deps.mongo.collections.idempotency.updateOne(
      { record_id: first?.body._id },
      { $set: lost },
    );
    expect(matchedCount).toBe(1);
    expect(await api.post('/v1/project', body, key)).toMatchObject({ status: 201, body: first?.body });
    expect((await api.get('/v1/project')).body.total_count).toBe(2);
  });
});

describe('GET /v1/project', () => {
  test('lists only the projects of the organization, newest first', async () => {
    verifies('platform.projects.list', 'platform.lists.shape');
    const [here, there] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const first = await create(here);
    const second = await create(here);
    await create(there);
    const listed = await here.api.get('/v1/project');
    expect(listed).toMatchObject({ status: 200, body: { total_count: 3, next_cursor: null } });
    expect(idsOf(listed)).toEqual([second._id, first._id, here.projectID]);
  });

  test('shows other roles only the project of their key, on every page', async () => {
    const owner = await createWorkspace(deps);
    const narrow = await createWorkspace(deps, { organizationId: owner.organizationId, role: 'PROJECT_ADMIN' });
    await create(owner);
    expect(idsOf(await narrow.api.get('/v1/project'))).toEqual([narrow.projectID]);
    const { next_cursor } = (await owner.api.get('/v1/project?limit=1')).body;
    expect(idsOf(await owner.api.get(`/v1/project?cursor=${next_cursor}`))).toEqual([
      narrow.projectID,
      owner.projectID,
    ]);
    expect(idsOf(await narrow.api.get(`/v1/project?cursor=${next_cursor}`))).toEqual([narrow.projectID]);
  });

  test('filters by status, userId and organization_id', async () => {
    verifies('platform.projects.list.filters');
    const owner = await createPersonalWorkspace(deps);
    const colleague = await createWorkspace(deps, { organizationId: owner.organizationId });
    const put = await create(owner);
    await owner.api.patch(`/v1/project/${put._id}`, { status: 'archived' });
    expect(idsOf(await owner.api.get('/v1/project?status=archived'))).toEqual([put._id]);
    expect(idsOf(await owner.api.get('/v1/project?status=active'))).toEqual([colleague.projectID, owner.projectID]);
    expect(idsOf(await owner.api.get(`/v1/project?userId=${colleague.userId}`))).toEqual([colleague.projectID]);
    expect(idsOf(await owner.api.get(`/v1/project?userId=${owner.userId}&status=archived`))).toEqual([put._id]);
    expect((await owner.api.get(`/v1/project?organization_id=${owner.organizationId}`)).body.total_count).toBe(3);
    expect(await owner.api.get(`/v1/project?organization_id=${newId()}`)).toMatchObject(refusal(403, 'access_denied'));
    expect(await owner.api.get('/v1/project?status=deleted')).toMatchObject(refusal(400, 'invalid_request', 'status'));
  });

  test('returns every project that existed at the start once while others are added', async () => {
    verifies('platform.lists.cursor');
    const owner = await createWorkspace(deps);
    const made = [owner.projectID];
    for (let count = 0; count < 4; count += 1) made.unshift((await create(owner))._id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await owner.api.get(`/v1/project?limit=2${cursor}`);
      seen.push(...idsOf(page));
      await create(owner);
      cursor = page.body.next_cursor === null ? '' : `&cursor=${page.body.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(made);
  });

  test('returns 50 projects per page by default and at most 200', async () => {
    verifies('platform.lists.limit');
    const owner = await createWorkspace(deps);
    const { _id: _own, ...like } = (await owner.api.get(`/v1/project/${owner.projectID}`)).body;
    await deps.mongo.collections.projects.insertMany(
      Array.from({ length: 205 }, () => ({ ...like, _id: newId(), name: unique() })),
    );
    expect(idsOf(await owner.api.get('/v1/project'))).toHaveLength(50);
    expect(idsOf(await owner.api.get('/v1/project?limit=200'))).toHaveLength(200);
    expect(await owner.api.get('/v1/project?limit=201')).toMatchObject(refusal(400, 'invalid_request', 'limit'));
  });

  test.each(['limit=0', 'limit=201', 'limit=many', 'cursor=nonsense'])('refuses %s', async (query) => {
    const { api } = await createWorkspace(deps);
    expect(await api.get(`/v1/project?${query}`)).toMatchObject(refusal(400, 'invalid_request', query.split('=')[0]));
  });
});

describe('GET /v1/project/all', () => {
  test('lists the projects of the user in the organization', async () => {
    verifies('platform.projects.all-of-user');
    const owner = await createWorkspace(deps);
    const colleague = await createWorkspace(deps, { organizationId: owner.organizationId, role: 'PROJECT_ADMIN' });
    expect(await owner.api.get(`/v1/project/all?userId=${colleague.userId}`)).toMatchObject({
      status: 200,
      body: { total_count: 1, data: [{ _id: colleague.projectID, user_id: colleague.userId }] },
    });
    expect(idsOf(await colleague.api.get(`/v1/project/all?userId=${owner.userId}`))).toEqual([]);
    expect(idsOf(await owner.api.get(`/v1/project/all?userId=${newId()}`))).toEqual([]);
    expect(await owner.api.get('/v1/project/all')).toMatchObject(refusal(400, 'invalid_request', 'userId'));
  });
});

describe('GET /v1/project/{project_id}', () => {
  test('returns the project to the whole organization or to its own key', async () => {
    verifies('platform.projects.get');
    const owner = await createWorkspace(deps);
    const narrow = await createWorkspace(deps, {
      organizationId: owner.organizationId,
      role: 'DEVELOPER',
      grants: ['svc:orchestrate.read'],
    });
    expect(await narrow.api.get(`/v1/project/${narrow.projectID}`)).toMatchObject({
      status: 200,
      body: { _id: narrow.projectID },
    });
    expect(await owner.api.get(`/v1/project/${narrow.projectID}`)).toMatchObject({
      status: 200,
      body: { _id: narrow.projectID },
    });
    expect(await narrow.api.get(`/v1/project/${owner.projectID}`)).toMatchObject(refusal(403, 'access_denied'));
  });

  test('answers 403 for a project of another organization', async () => {
    const [here, there] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const answers = [
      await here.api.get(`/v1/project/${there.projectID}`),
      await here.api.patch(`/v1/project/${there.projectID}`, { name: unique() }),
      await here.api.delete(`/v1/project/${there.projectID}`),
    ];
    for (const answer of answers) expect(answer).toMatchObject(refusal(403, 'access_denied'));
    expect(await there.api.get(`/v1/project/${there.projectID}`)).toMatchObject({
      status: 200,
      body: { status: 'active' },
    });
  });

  test.each([newId(), 'x', '%00', '..%2F..', '%7B%22$gt%22:%22%22%7D', 'a'.repeat(3000)])(
    'answers 404 for %s',
    async (id) => {
      verifies('platform.errors.malformed-id');
      const { api } = await createWorkspace(deps);
      expect(await api.get(`/v1/project/${id}`)).toMatchObject(refusal(404, 'not_found'));
      expect(await api.patch(`/v1/project/${id}`, {})).toMatchObject(refusal(404, 'not_found'));
      expect(await api.delete(`/v1/project/${id}`)).toMatchObject(refusal(404, 'not_found'));
    },
  );
});

describe('GET /v1/project/name/{project_name}', () => {
  test('returns the project with that name in the organization', async () => {
    verifies('platform.projects.get-by-name');
    const [owner, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const narrow = await createWorkspace(deps, { organizationId: owner.organizationId, role: 'PROJECT_ADMIN' });
    const made = await create(owner, `Zürich / 50 % ${newId()}`);
    const path = `/v1/project/name/${encodeURIComponent(made.name)}`;
    for (const form of ['NFC', 'NFD'])
      expect(await owner.api.get(`/v1/project/name/${encodeURIComponent(made.name.normalize(form))}`)).toMatchObject({
        status: 200,
        body: { _id: made._id },
      });
    expect(await narrow.api.get(path)).toMatchObject(refusal(403, 'access_denied'));
    expect(await stranger.api.get(path)).toMatchObject(refusal(404, 'not_found'));
    expect(await owner.api.get(`/v1/project/name/${newId()}`)).toMatchObject(refusal(404, 'not_found'));
  });
});

describe('PATCH /v1/project/{project_id}', () => {
  test('changes the given fields and keeps the others', async () => {
    verifies('platform.projects.update');
    const owner = await createPersonalWorkspace(deps);
    const made = await create(owner);
    const changed = await owner.api.patch(`/v1/project/${made._id}`, { description: 'new' });
    expect(changed).toMatchObject({
      status: 200,
      body: { ...made, description: 'new', updated_at: expect.any(Number) },
    });
    expect(changed.body.updated_at).toBeGreaterThan(changed.body.created_at);
    expect((await owner.api.get(`/v1/project/${made._id}`)).body).toEqual(changed.body);
  });

  test('refuses a name in use, unknown fields and states that cannot be set', async () => {
    const owner = await createPersonalWorkspace(deps);
    const [first, second] = [await create(owner), await create(owner)];
    const path = `/v1/project/${second._id}`;
    expect(await owner.api.patch(path, { name: first.name })).toMatchObject(refusal(409, 'conflict', first.name));
    expect(await owner.api.patch(path, { user_id: 'x' })).toMatchObject(refusal(400, 'invalid_request', 'user_id'));
    expect(await owner.api.patch(path, { status: 'deleted' })).toMatchObject(refusal(400, 'invalid_request', 'status'));
    expect(await owner.api.patch(path, { name: second.name })).toMatchObject({
      status: 200,
      body: { name: second.name },
    });
  });
});

describe('DELETE /v1/project/{project_id}', () => {
  test('returns the last record, removes it from reads and lists, and frees its name', async () => {
    verifies('platform.projects.delete');
    const owner = await createPersonalWorkspace(deps);
    const made = await create(owner);
    const path = `/v1/project/${made._id}`;
    expect(await owner.api.delete(path)).toMatchObject({
      status: 200,
      body: { _id: made._id, name: made.name, status: 'deleted' },
    });
    for (const answer of [await owner.api.get(path), await owner.api.patch(path, {}), await owner.api.delete(path)]) {
      expect(answer).toMatchObject(refusal(404, 'not_found'));
    }
    expect(await owner.api.get(`/v1/project/name/${encodeURIComponent(made.name)}`)).toMatchObject(
      refusal(404, 'not_found'),
    );
    expect(idsOf(await owner.api.get('/v1/project'))).toEqual([owner.projectID]);
    expect((await create(owner, made.name))._id).not.toBe(made._id);
  });

  test('refuses the project of the credential itself, and a project outside a narrow role', async () => {
    const owner = await createWorkspace(deps);
    const narrow = await createWorkspace(deps, { organizationId: owner.organizationId, role: 'PROJECT_ADMIN' });
    expect(await owner.api.delete(`/v1/project/${owner.projectID}`)).toMatchObject(refusal(409, 'conflict'));
    expect(await narrow.api.delete(`/v1/project/${owner.projectID}`)).toMatchObject(refusal(403, 'access_denied'));
    expect((await owner.api.get('/v1/project')).body.total_count).toBe(2);
  });
});

test('project routes require svc:orchestrate.read to read and svc:orchestrate.write to change', async () => {
  verifies('platform.grants.read', 'platform.grants.write');
  const owner = await createWorkspace(deps);
  const path = `/v1/project/${owner.projectID}`;
  const nothing = await withKey(owner, { role: 'VIEWER' });
  const reader = await withKey(owner, { grants: ['svc:orchestrate.read'] });
  for (const read of ['/v1/project', '/v1/project/all?userId=x', path, '/v1/project/name/x']) {
    expect(await nothing.get(read)).toMatchObject(refusal(403, 'access_denied', 'svc:orchestrate.read'));
  }
  for (const api of [nothing, reader]) {
    expect(await api.post('/v1/project', { name: unique() })).toMatchObject(
      refusal(403, 'access_denied', 'svc:orchestrate.write'),
    );
    expect(await api.patch(path, { name: unique() })).toMatchObject(
      refusal(403, 'access_denied', 'svc:orchestrate.write'),
    );
    expect(await api.delete(path)).toMatchObject(refusal(403, 'access_denied', 'svc:orchestrate.write'));
  }
  expect((await reader.get('/v1/project')).body).toMatchObject({ total_count: 1, data: [{ status: 'active' }] });
});
