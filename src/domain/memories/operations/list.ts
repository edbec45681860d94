import { listOf, listPage } from '../../../stores/lists.js';
import { defineOperation } from '../../operation.js';
import { viewsOf } from '../operations.js';
import { MemoryListItem, MemoryQuery } from '../record.js';

export const listMemories = defineOperation({
  name: 'memory.list',
  effect: 'read',
  grant: 'svc:query.read',
  input: MemoryQuery,
  output: listOf(MemoryListItem),
  async run({ deps, ctx: { principal }, input }) {
    const { status } = input;
    const filter = { project_id: principal.projectId, ...(status !== undefined && { status }) };
    const page = await listPage(deps.mongo.collections.memories, filter, input, 'created_at');
    const views = await viewsOf(deps, page.data);
    return { ...page, data: views.map(({ merges: _, ...item }) => item) };
  },
});
