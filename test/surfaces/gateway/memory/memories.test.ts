import { describe, expect, test } from '@jest/globals';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { livesIn, reached, remember, remembered, retentionDays, useMemoryProduct } from './memory-product.js';

const deps = useDeps();
const product = useMemoryProduct(deps);

const inBerlin = 'Ada Lovelace lives in Berlin.';
const berlin = () => livesIn('Ada Lovelace', 'Berlin', inBerlin);

describe('GET /v1/memories', () => {
  test('lists the memories of the project, by status and page', async () => {
    verifies('memory.list', 'memory.tenancy');
    const [workspace, stranger] = [await product.workspace(berlin), await product.workspace(berlin)];
    const first = await remembered(workspace, { text: inBerlin, source: 'first' });
    const second = await remembered(workspace, { text: `${inBerlin} Again.` });
    const failed = await reached(
      workspace,
      (await remember(workspace, { text: inBerlin, budget: 0 })).memory_id,
      'failed',
    );
    const { merges: _, ...listed } = first;
    const list = async (query = '', of = workspace) => (await of.gateway.get(`/v1/memories${query}`)).body;
    const idsOf = ({ data }: any) => data.map(({ memory_id }: any) => memory_id);
    const all = await list();
    expect(idsOf(all)).toEqual([failed.memory_id, second.memory_id, first.memory_id]);
    expect(all).toMatchObject({ total_count: 3, next_cursor: null });
    expect(all.data[2]).toEqual(listed);
    expect(idsOf(await list('?status=failed'))).toEqual([failed.memory_id]);
    const page = await list('?limit=2');
    expect(idsOf(await list(`?limit=2&cursor=${page.next_cursor}`))).toEqual([first.memory_id]);
    expect(await list('', stranger)).toMatchObject({ data: [], total_count: 0 });
    expect(await workspace.gateway.get('/v1/memories?status=lost')).toMatchObject({ status: 400 });
  });

  test('keeps a memory that has ended for the configured time', async () => {
    verifies('memory.retention');
    const workspace = await product.workspace(berlin);
    const { memory_id, ended_at } = await remembered(workspace, { text: inBerlin });
    const { memories, memory_parts } = deps.mongo.collections;
    const expiry = { expires_at: new Date((ended_at + retentionDays * 86_400) * 1000) };
    expect(await memories.findOne({ _id: memory_id })).toMatchObject(expiry);
    expect(await memory_parts.find({ memory_id }).toArray()).toMatchObject([expiry]);
    const indexes = await Promise.all([memories.indexes(), memory_parts.indexes()]);
    for (const of of indexes) expect(of).toContainEqual(expect.objectContaining({ expireAfterSeconds: 0 }));
  });
});
