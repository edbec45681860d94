import { beforeAll, expect, test } from '@jest/globals';
import { personOf, useDeps } from '../support/fixture.js';
import { createPerson } from '../auth/auth-server.js';
import { createGatewayWorkspace } from '../support/gateway.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
let workspace: Awaited<ReturnType<typeof createGatewayWorkspace>>;
beforeAll(async () => {
  workspace = await createGatewayWorkspace(deps);
  const { userId } = await createPerson(deps, { role: 'ORG_ADMIN', workspace });
  const admin = await personOf(deps, workspace, { role: 'ORG_ADMIN', userId });
  await admin.post(`/tag?projectID=${workspace.projectID}`, { name: 'urgent' });
  await workspace.gateway.post('/v1/save-model', { model: 'gpt-x' });
});

const entries = async (query: string) => (await workspace.gateway.get(`/v1/audit?${query}`)).body.data;
const valueOf = async (of: (entry: any) => string) => {
  const data = await entries('action=tag.create');
  return of(data[0]);
};

const filters: [filter: string, how: string, of: (entry: any) => string][] = [
  ['actor', 'the whole actor', ({ actor }) => actor],
  ['actor', 'the id of the person', ({ actor }) => actor.split(':')[1]],
  ['actor', 'a part of the name in another case', ({ actor_name }) => actor_name.slice(1, 4).toUpperCase()],
  ['actor', 'a part of the mail address', ({ actor_name }) => /\(([^)]{6})/.exec(actor_name)?.[1] ?? ''],
  ['action', 'the whole action', ({ action }) => action],
  ['action', 'the beginning of the action', () => 'tag'],
  ['exact_action', 'the whole action', ({ action }) => action],
  ['resource', 'the whole resource', ({ resource }) => resource],
  ['resource', 'the beginning of the resource', ({ resource }) => resource.slice(0, 3)],
  ['outcome', 'the whole outcome', ({ outcome }) => outcome],
  ['outcome', 'the beginning of the outcome', () => 'comp'],
];

test.each(filters)('the filter %s finds an entry by %s, and nothing by another value', async (filter, _how, of) => {
  verifies('audit.filters.match-their-label');
  const value = await valueOf(of);
  expect(value).not.toBe('');
  const found = await entries(`${filter}=${encodeURIComponent(value)}`);
  expect(found.map(({ action }: any) => action)).toContain('tag.create');
  expect(await entries(`${filter}=${encodeURIComponent(`${value}-no-such`)}`)).toEqual([]);
});

test('the filter exact_action does not find actions that begin alike', async () => {
  verifies('audit.filters.exact-action');
  expect(await entries('exact_action=tag')).toEqual([]);
  const both = await entries('exact_action=tag.create&action=tag');
  expect(both.map(({ action }: any) => action)).toEqual(['tag.create']);
  expect(await entries('exact_action=tag.create&action=save')).toEqual([]);
});

test('the filter actor treats signs of patterns as text, and finds nobody of another organization', async () => {
  verifies('audit.filters.match-their-label');
  expect(await entries(`actor=${encodeURIComponent('.*')}`)).toEqual([]);
  const stranger = await createGatewayWorkspace(deps);
  const [mine] = await entries('action=tag.create');
  const id = mine.actor.split(':')[1];
  expect((await stranger.gateway.get(`/v1/audit?actor=${id}`)).body.data).toEqual([]);
});
