import { describe, expect, test } from '@jest/globals';
import { apiClient } from '../support/client.js';
import { useDeps } from '../support/fixture.js';
import { addressOf, createWorld, lists, unpaged, type ListCase, type World } from '../support/list-cases.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const document = (await apiClient(testRun().url).get('/openapi.json')).body;
const schemaOf = (schema: any): any =>
  schema?.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)];

/** A GET whose answer counts its elements. */
const routes = Object.entries<any>(document.paths)
  .filter(([, { get }]) => {
    const fields = schemaOf(get?.responses['200']?.content?.['application/json']?.schema)?.properties ?? {};
    return 'next_cursor' in fields || 'total_count' in fields;
  })
  .map(([path]) => path);

async function pageAt(world: World, list: ListCase, address: string, cursor: string | null) {
  const { status, body } = await world.api.get(address + (cursor === null ? '' : `&cursor=${cursor}`));
  expect([address, status]).toEqual([address, 200]);
  const items: string[] = body[list.field ?? 'data'].map(list.keyOf);
  expect(items.length).toBeLessThanOrEqual(2);
  return { items, next: body.next_cursor as string | null };
}

describe('every list route', () => {
  test('has an entry in test/support/list-cases.ts, and every entry has a route', () => {
    expect([...Object.keys(lists), ...Object.keys(unpaged)].sort()).toEqual([...routes].sort());
  });

  test.each(Object.keys(lists))(
    'GET %s returns the newest first across its pages, each element once',
    async (route) => {
      verifies('platform.lists.shape', 'platform.lists.cursor', 'lists.newest-first');
      const world = await createWorld(deps);
      const list = await lists[route]!(world);
      const made = [...(list.before ?? [])];
      for (let count = 0; count < 3; count += 1) made.push(...[await list.make()].flat());
      const address = addressOf(route, world, list, 2);
      const first = await pageAt(world, list, address, null);
      const seen = [...first.items];
      // Later pages show the state of the first page.
      const later = [await list.make()].flat();
      for (let next = first.next; next !== null && !made.every((key) => seen.includes(key));) {
        const page = await pageAt(world, list, address, next);
        expect(page.items.filter((key) => seen.includes(key))).toEqual([]);
        seen.push(...page.items);
        next = page.next;
      }
      const ours = (keys: string[]) => (list.isShared ? keys.filter((key) => [...made, ...later].includes(key)) : keys);
      expect(ours(seen)).toEqual([...made].reverse());
      expect(ours((await pageAt(world, list, address, null)).items)).toEqual([...made, ...later].reverse().slice(0, 2));
    },
  );
});
