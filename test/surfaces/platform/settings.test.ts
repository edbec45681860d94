import { describe, expect, test } from '@jest/globals';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const empty = {
  reference_mapping: [],
  user_connectors: [],
  connector_group: [],
  user_settings_schema: { template: '', form_elements: [] },
};

describe('GET /settings/{projectID}', () => {
  test('returns every field, the same to concurrent first readers', async () => {
    verifies('platform.settings.get', 'resource.settings');
    const { api, projectID } = await createWorkspace(deps);
    const answers = await Promise.all(Array.from({ length: 5 }, () => api.get(`/settings/${projectID}`)));
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]?.body });
    expect(answers[0]?.body).toEqual({
      _id: expect.any(String),
      projectID,
      data_events: false,
      require_release: null,
      execution_retention: { completed_days: null, failed_days: null, cancelled_days: null },
      language: 'auto',
      ...empty,
    });
  });

  test('answers 403 for another project, and does not change it', async () => {
    const [{ api }, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    expect(await api.get(`/settings/${stranger.projectID}`)).toMatchObject(refusal(403, 'access_denied'));
    expect(await api.patch(`/settings/${stranger.projectID}`, { user_connectors: ['mine'] })).toMatchObject(
      refusal(403, 'access_denied'),
    );
    expect((await stranger.api.get(`/settings/${stranger.projectID}`)).body.user_connectors).toEqual([]);
  });
});

describe('PATCH /settings/{projectID}', () => {
  test('changes the given fields and keeps the others, also before the first read', async () => {
    verifies('platform.settings.update');
    const { api, projectID } = await createWorkspace(deps);
    const path = `/settings/${projectID}`;
    const schema = {
      template: 'Sign as {{ signature }}.',
      form_elements: [{ name: 'signature', 'odd.key': { deep: [1, null] } }],
    };
    const first = await api.patch(path, { user_settings_schema: schema, projectID });
    expect(first).toMatchObject({ status: 200, body: { ...empty, user_settings_schema: schema } });
    expect((await api.patch(path, { user_connectors: ['c1', { id: 'c2' }] })).body).toEqual({
      ...first.body,
      user_connectors: ['c1', { id: 'c2' }],
    });
    expect((await api.patch(path, {})).body).toEqual({ ...first.body, user_connectors: ['c1', { id: 'c2' }] });
    expect((await api.get(path)).body).toEqual({ ...first.body, user_connectors: ['c1', { id: 'c2' }] });
  });

  test('keeps all fields of concurrent changes', async () => {
    verifies('platform.settings.update');
    const { api, projectID } = await createWorkspace(deps);
    const path = `/settings/${projectID}`;
    await Promise.all(
      ['reference_mapping', 'user_connectors', 'connector_group'].map((field) => api.patch(path, { [field]: [field] })),
    );
    expect((await api.get(path)).body).toMatchObject({
      reference_mapping: ['reference_mapping'],
      user_connectors: ['user_connectors'],
      connector_group: ['connector_group'],
    });
  });

  test.each([
    ['theme', { theme: 'dark' }],
    ['_id', { _id: 'other' }],
    ['user_connectors', { user_connectors: 'all' }],
    ['reference_mapping', { reference_mapping: null }],
    ['user_settings_schema.form_elements', { user_settings_schema: { template: '' } }],
    ['user_settings_schema.template', { user_settings_schema: { template: 1, form_elements: [] } }],
    ['colour', { user_settings_schema: { template: '', form_elements: [], colour: 1 } }],
    ['connector_group', { connector_group: Array.from({ length: 1001 }, () => 1) }],
  ])('refuses an invalid %s and changes nothing', async (field, body) => {
    verifies('platform.settings.update');
    const { api, projectID } = await createWorkspace(deps);
    expect(await api.patch(`/settings/${projectID}`, body)).toMatchObject(refusal(400, 'invalid_request', field));
    expect((await api.get(`/settings/${projectID}`)).body).toMatchObject(empty);
  });
});
