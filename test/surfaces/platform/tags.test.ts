import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();

describe('POST /tag', () => {
  test('creates a tag of the project', async () => {
    verifies('platform.tags.create');
    const { api, projectID, userId } = await createWorkspace(deps);
    const made = await api.post(`/tag?projectID=${projectID}`, { name: ' urgent ', color: '#D73A4A', projectID });
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      _id: expect.any(String),
      name: 'urgent',
      color: '#D73A4A',
      projectID,
      created_by: userId,
      created_at: expect.any(Number),
    });
    expect((await api.post('/tag', { name: 'plain' })).body).toMatchObject({ color: null });
    expect((await api.get('/tag')).body).toMatchObject({ total_count: 2, data: [{ name: 'plain' }, made.body] });
  });

  test('keeps names unique within a project, also under concurrent calls, but not across projects', async () => {
    verifies('platform.tags.create');
    const [{ api }, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const answers = await Promise.all(Array.from({ length: 6 }, () => api.post('/tag', { name: 'urgent' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(await api.post('/tag', { name: 'urgent' })).toMatchObject(refusal(409, 'conflict', '"urgent"'));
    expect((await api.post('/tag', { name: 'Caf\u00e9' })).status).toBe(201);
    expect(await api.post('/tag', { name: 'Cafe\u0301' })).toMatchObject(refusal(409, 'conflict', '"Café"'));
    expect(await api.post('/tag', { name: 'Urgent' })).toMatchObject({ status: 201 });
    expect(await stranger.api.post('/tag', { name: 'urgent' })).toMatchObject({ status: 201 });
    expect((await api.get('/tag')).body.total_count).toBe(3);
  });

  test('creates one tag from calls with one Idempotency-Key', async () => {
    const { api } = await createWorkspace(deps);
    const key = { 'idempotency-key': newId() };
    const [first, second] = await Promise.all([
      api.post('/tag', { name: 'once' }, key),
      api.post('/tag', { name: 'once' }, key),
    ]);
    expect(first).toMatchObject({ status: 201, body: second?.body });
    expect((await api.get('/tag')).body.total_count).toBe(1);
  });

  test.each([
    ['name', {}],
    ['name', { name: '  ' }],
    ['name', { name: 7 }],
    ['name', { name: 'x'.repeat(101) }],
    ['color', { name: 'x', color: 'red' }],
    ['size', { name: 'x', size: 1 }],
  ])('refuses an invalid %s and stores nothing', async (field, body) => {
    const { api } = await createWorkspace(deps);
    expect(await api.post('/tag', body)).toMatchObject(refusal(400, 'invalid_request', field));
    expect((await api.get('/tag')).body.total_count).toBe(0);
  });
});

describe('GET /tag', () => {
  test('lists only the tags of the project, newest first, by page', async () => {
    verifies('platform.tags.list');
    const [{ api, projectID }, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    await stranger.api.post('/tag', { name: 'theirs' });
    for (const name of ['a', 'b', 'c']) await api.post('/tag', { name });
    const first = await api.get(`/tag?projectID=${projectID}&limit=2`);
    expect(first.body).toMatchObject({ total_count: 3, data: [{ name: 'c' }, { name: 'b' }] });
    expect((await api.get(`/tag?limit=2&cursor=${first.body.next_cursor}`)).body).toMatchObject({
      data: [{ name: 'a' }],
      next_cursor: null,
    });
    expect(await api.get(`/tag?projectID=${stranger.projectID}`)).toMatchObject(refusal(403, 'access_denied'));
  });
});

describe('DELETE /tag/{id}', () => {
  test('removes the tag, returns it and frees its name; a repeat is answered 404', async () => {
    verifies('platform.tags.delete');
    const { api } = await createWorkspace(deps);
    const { body } = await api.post('/tag', { name: 'urgent' });
    expect(await api.delete(`/tag/${body._id}`)).toMatchObject({ status: 200, body });
    expect(await api.delete(`/tag/${body._id}`)).toMatchObject(refusal(404, 'not_found'));
    expect(await api.post('/tag', { name: 'urgent' })).toMatchObject({ status: 201 });
  });

  test('answers 404 to an unknown, a malformed and another project’s id', async () => {
    const [{ api }, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const { body } = await stranger.api.post('/tag', { name: 'theirs' });
    for (const id of [body._id, newId(), 'x', '%00'])
      expect(await api.delete(`/tag/${id}`)).toMatchObject(refusal(404, 'not_found'));
    expect((await stranger.api.get('/tag')).body).toMatchObject({ data: [body] });
  });
});
