import { z } from 'zod';
import { decidesOwn } from '../../auth/decisions.js';
import { defineTool } from '../../governance/tools/tool.js';
import { exampleId } from '../../base/ids.js';
import type { Deps } from '../deps.js';
import { decideMemory, findMemory, viewOf } from '../memories/operations.js';
import { MemoryView } from '../memories/record.js';
import { askersOfMemory, memoryRules } from '../memories/rules.js';

const Input = z
  .strictObject({
    operation: z.enum(['get', 'cancel', 'approve', 'reject']),
    memory_id: z.string().min(1).max(100),
    payload_digest: z.string().max(64).optional().describe('For `approve`: that of the review.'),
  })
  .meta({ id: 'MemoryInput', example: { operation: 'get', memory_id: exampleId } });

/** Follows a remembered text, cancels it or decides its review. */
export const memoryTool = defineTool(memoryRules, (deps: Deps) => ({
  title: 'Follow a remembered text',
  description: 'Returns status, counts, retries and cost of a remembered text; cancels it, or decides its review.',
  input: Input,
  output: z.object({ memory: MemoryView }).meta({ id: 'MemoryAnswer' }),
  hints: { readOnly: false, destructive: false, idempotent: false },
  resource: ({ memory_id }) => ({ type: 'memory', id: memory_id }),
  lookUp: async ({ memory_id }, { principal }) => ({
    facts: decidesOwn(principal, askersOfMemory(await findMemory(deps, principal, memory_id))),
  }),
  dryRun: async ({ operation, memory_id }, { principal }) => {
    const { status } = await findMemory(deps, principal, memory_id);
    return { [operation]: { memory_id, status } };
  },
  execute: async ({ operation, memory_id, payload_digest }, { principal, recordId }) => {
    const memory = await findMemory(deps, principal, memory_id);
    if (operation === 'get') return { body: { memory: await viewOf(deps, memory) } };
    const decided = { decision: operation, payload_digest };
    return { body: { memory: await decideMemory(deps, principal, memory, decided, recordId) } };
  },
}));
