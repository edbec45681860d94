import { describe, expect, test } from '@jest/globals';
import type { Grant } from '../../../src/auth/grants.js';
import { newId } from '../../../src/base/ids.js';
import { exampleAction, exampleSkill } from '../../../src/domain/agentflows/record/examples.js';
import { apiClient, type ApiClient } from '../../support/client.js';
import { createKey, createWorkspace, useDeps } from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const { projectID: _project, user_id: _user, is_deleted: _deleted, _id: _skill, ...newSkill } = exampleSkill;
const { _id: _action, ...newAction } = exampleAction;
const field = (field_id: string, type = 'string') => ({
  field_id,
  label: field_id,
  type,
  required: true,
  description: '',
});

async function made(api: ApiClient, path: string, body: object) {
  const answer = await api.post(path, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

/** Follows the pages of a list of three, newest first. */
async function expectListed(api: ApiClient, path: string, ids: string[]) {
  const first = (await api.get(`${path}&limit=2`)).body;
  const second = (await api.get(`${path}&limit=2&cursor=${first.next_cursor}`)).body;
  expect([...first.data, ...second.data].map(({ _id }: any) => _id)).toEqual(ids);
  expect([first.total_count, second.next_cursor]).toEqual([ids.length, null]);
}

describe('POST, GET /skill', () => {
  test('store a skill of the project with its actions and return it completely', async () => {
    verifies('platform.skills.create', 'platform.skills.get');
    const { api, projectID, userId } = await createWorkspace(deps);
    const connector = await api.post(`/actions/restful/config?projectID=${projectID}`, {
      name: 'Register',
      config: { base_url: 'https://claims.example.com/api' },
    });
    const actions = [{ ...exampleAction, endpoint: '/claims/{{ inputs.claim_number }}' }];
    const body = { ...newSkill, connector_id: connector.body._id, connector_name: 'Register', actions };
    const skill = await made(api, `/skill?projectID=${projectID}`, { ...body, projectID });
    expect(skill).toEqual({ ...body, _id: skill._id, projectID, user_id: userId, is_deleted: false });
    expect(await api.get(`/skill/${skill._id}?projectID=${projectID}`)).toMatchObject({ status: 200, body: skill });
    const stranger = await createWorkspace(deps);
    for (const id of [newId(), 'x', '$ne'])
      expect(await api.get(`/skill/${id}`)).toMatchObject(refusal(404, 'not_found'));
    expect(await stranger.api.get(`/skill/${skill._id}`)).toMatchObject(refusal(404, 'not_found'));
    expect(await stranger.api.delete(`/skill/${skill._id}`)).toMatchObject(refusal(404, 'not_found'));
    expect(await stranger.api.post('/skill', body)).toMatchObject(refusal(422, 'validation_failed', 'connector_id'));
  });

  const action = { _id: 'a', name: 'A', endpoint: 'https://example.com/' };
  test.each([
    [
      'an unknown initial action',
      { actions: [action], initial_action_id: 'z' },
      refusal(422, 'validation_failed', 'initial_action_id'),
    ],
    [
      'an unknown next action',
      { actions: [{ ...action, next_action_id: 'z' }] },
      refusal(422, 'validation_failed', 'next_action_id'),
    ],
    [
      'an unknown previous action',
      { actions: [{ ...action, previous_action_id: 'z' }] },
      refusal(422, 'validation_failed', 'previous_action_id'),
    ],
    [
      'actions in a circle',
      { actions: [{ ...action, next_action_id: 'a' }] },
      refusal(422, 'validation_failed', 'a → a'),
    ],
    ['an unknown connector', { connector_id: 'z' }, refusal(422, 'validation_failed', 'connector_id')],
    [
      'a path without a connector',
      { actions: [{ ...action, endpoint: '/x' }] },
      refusal(422, 'validation_failed', 'connector_id'),
    ],
    ['an unknown field', { colour: 'red' }, refusal(400, 'invalid_request', 'colour')],
    ['an id of its own', { _id: 'mine' }, refusal(400, 'invalid_request', '_id')],
  ])('refuse %s and store nothing', async (_, fields, expected) => {
    const { api } = await createWorkspace(deps);
    expect(await api.post('/skill', { name: 'S', ...fields })).toMatchObject(expected);
    expect((await api.get('/skill')).body).toMatchObject({ total_count: 0, data: [] });
  });

  test('list only the skills of the project, newest first, by page', async () => {
    verifies('platform.skills.list');
    const { api, projectID } = await createWorkspace(deps);
    await made((await createWorkspace(deps)).api, '/skill', { name: 'Foreign' });
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) ids.unshift((await made(api, '/skill', { name }))._id);
    await expectListed(api, `/skill?projectID=${projectID}`, ids);
  });

  test('create one skill from calls with one Idempotency-Key', async () => {
    const { api } = await createWorkspace(deps);
    const key = { 'idempotency-key': newId() };
    const answers = await Promise.all([1, 2, 3].map(() => api.post('/skill', { name: 'One' }, key)));
    for (const answer of answers) expect(answer).toMatchObject({ status: 201, body: answers[0]?.body });
    expect((await api.get('/skill')).body.total_count).toBe(1);
  });
});

describe('DELETE /skill/{id}', () => {
  test('returns the last record, marks it deleted and removes it from reads and the list', async () => {
    verifies('platform.skills.delete');
    const { api } = await createWorkspace(deps);
    const kept = await made(api, '/skill', { name: 'Kept' });
    const skill = await made(api, '/skill', { name: 'Gone' });
    expect(await api.delete(`/skill/${skill._id}`)).toMatchObject({
      status: 200,
      body: { ...skill, is_deleted: true },
    });
    expect(await api.get(`/skill/${skill._id}`)).toMatchObject(refusal(404, 'not_found'));
    expect(await api.delete(`/skill/${skill._id}`)).toMatchObject(refusal(404, 'not_found'));
    expect((await api.get('/skill')).body).toMatchObject({ total_count: 1, data: [kept] });
    expect(await deps.mongo.collections.skills.findOne({ _id: skill._id })).toMatchObject({ is_deleted: true });
  });
});

describe('POST, GET /action', () => {
  test('store an action with its schemas and return it with every field of the specification', async () => {
    verifies('platform.actions.create', 'platform.actions.get');
    const { api, projectID, userId } = await createWorkspace(deps);
    const schemas = {
      input_schema: { fields: [field('claim'), field('size', 'number')] },
      output_schema: { fields: [field('state', 'object')] },
    };
    const body = { ...newAction, ...schemas, sort: 7, is_terminal: false };
    const first = await made(api, `/action?projectID=${projectID}`, { ...body, projectID });
    expect(first).toEqual({ ...body, _id: first._id, projectID, user_id: userId });
    expect(await api.get(`/action/${first._id}?projectID=${projectID}`)).toMatchObject({ status: 200, body: first });
    const second = await made(api, '/action', {
      name: 'Send',
      category: 'mail',
      endpoint: 'send',
      previous_action_id: first._id,
    });
    expect(second).toMatchObject({
      category: 'mail',
      previous_action_id: first._id,
      next_action_id: null,
      is_terminal: true,
      sort: 0,
      input_schema: { fields: [] },
    });
    const stranger = await createWorkspace(deps);
    for (const id of [newId(), 'x', '$ne'])
      expect(await api.get(`/action/${id}`)).toMatchObject(refusal(404, 'not_found'));
    expect(await stranger.api.get(`/action/${first._id}`)).toMatchObject(refusal(404, 'not_found'));
    expect(await stranger.api.post('/action', { ...body, next_action_id: first._id })).toMatchObject(
      refusal(422, 'validation_failed', 'next_action_id'),
    );
  });

  test.each([
    ['an unknown next action', { next_action_id: 'z' }, refusal(422, 'validation_failed', 'next_action_id')],
    [
      'an unknown previous action',
      { previous_action_id: 'z' },
      refusal(422, 'validation_failed', 'previous_action_id'),
    ],
    [
      'an endpoint that is not a template',
      { endpoint: 'https://x.example/{{ a' },
      refusal(422, 'validation_failed', 'endpoint'),
    ],
    ['an endpoint that is not an address', { endpoint: 'somewhere' }, refusal(400, 'invalid_request', 'endpoint')],
    ['a host that is a variable', { endpoint: 'https://{{ a }}/' }, refusal(400, 'invalid_request', 'endpoint')],
    ['a path that is a host', { endpoint: '//evil.example/x' }, refusal(400, 'invalid_request', 'endpoint')],
    [
      'an unknown operation',
      { category: 'messaging', endpoint: 'shout' },
      refusal(400, 'invalid_request', 'send_message'),
    ],
    [
      'a field of an unknown type',
      { input_schema: { fields: [{ field_id: 'a', type: 'soul' }] } },
      refusal(400, 'invalid_request', 'input_schema.fields.0.type'),
    ],
    ['an unknown field', { colour: 'red' }, refusal(400, 'invalid_request', 'colour')],
    ['an id of its own', { _id: 'mine' }, refusal(400, 'invalid_request', '_id')],
  ])('refuse %s and store nothing', async (_, fields, expected) => {
    const { api } = await createWorkspace(deps);
    expect(await api.post('/action', { name: 'A', endpoint: 'https://example.com/', ...fields })).toMatchObject(
      expected,
    );
    expect((await api.get('/action')).body).toMatchObject({ total_count: 0, data: [] });
  });

  test('list only the actions of the project, newest first, by page and category', async () => {
    verifies('platform.actions.list');
    const { api, projectID } = await createWorkspace(deps);
    await made((await createWorkspace(deps)).api, '/action', newAction);
    const ids: string[] = [];
    for (const category of ['restful', 'mail', 'restful']) {
      ids.unshift((await made(api, '/action', { name: 'A', category, endpoint: category === 'mail' ? '' : '/x' }))._id);
    }
    await expectListed(api, `/action?projectID=${projectID}`, ids);
    expect((await api.get('/action?category=mail')).body).toMatchObject({ total_count: 1, data: [{ _id: ids[1] }] });
  });
});

test('skill and action routes require svc:skill.write to write and svc:orchestrate.read to read', async () => {
  verifies('platform.grants.skill');
  const workspace = await createWorkspace(deps);
  const skill = await made(workspace.api, '/skill', { name: 'S' });
  const keyed = async (...grants: Grant[]) =>
    apiClient(workspace.api.url, { 'x-api-key': await createKey(deps, workspace, { grants }) });
  const reader = await keyed('svc:orchestrate.read', 'svc:orchestrate.write', 'svc:agent.run');
  for (const [path, body] of [
    ['/skill', { name: 'S' }],
    ['/action', newAction],
  ] as const) {
    expect(await reader.post(path, body)).toMatchObject(refusal(403, 'access_denied', 'svc:skill.write'));
  }
  expect(await reader.delete(`/skill/${skill._id}`)).toMatchObject(refusal(403, 'access_denied', 'svc:skill.write'));
  expect((await reader.get('/skill')).body).toMatchObject({ total_count: 1, data: [skill] });
  expect((await reader.get('/action')).body).toMatchObject({ total_count: 0 });
  const writer = await keyed('svc:skill.write');
  for (const path of ['/skill', '/action', `/skill/${skill._id}`])
    expect(await writer.get(path)).toMatchObject(refusal(403, 'access_denied', 'svc:orchestrate.read'));
  expect((await writer.post('/action', newAction)).status).toBe(201);
  expect((await writer.delete(`/skill/${skill._id}`)).status).toBe(200);
});
