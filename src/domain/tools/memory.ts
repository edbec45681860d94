import { z } from 'zod';
import { decidesOwn } from '../../auth/decisions.js';
import { exampleId } from '../../base/ids.js';
import type { OperationCall } from '../../governance/operations/operation.js';
import { toolCase, multiplexedTool } from '../../governance/tools/tool.js';
import type { Deps } from '../deps.js';
import { decideMemory, findMemory, viewOf } from '../memories/operations.js';
import { MemoryView } from '../memories/record.js';
import { askersOfMemory, memoryRules } from '../memories/rules.js';
import { defineOperation, type DomainOperation, type DomainTool } from '../operation.js';

const Input = z
  .strictObject({
    operation: z.enum(['get', 'cancel', 'approve', 'reject']),
    memory_id: z.string().min(1).max(100),
    payload_digest: z.string().max(64).optional().describe('For `approve`: that of the review.'),
  })
  .meta({ id: 'MemoryInput', example: { operation: 'get', memory_id: exampleId } });
type Input = z.output<typeof Input>;

const key = z.object({ memory_id: z.string() });
type MemoryCall = OperationCall<Deps, z.output<typeof key>, unknown>;

const found = ({ deps, ctx, key: { memory_id } }: MemoryCall) => findMemory(deps, ctx.principal, memory_id);

const ofMemory = (operation: Input['operation']) => ({
  ...memoryRules,
  key,
  output: MemoryView,
  fixedFacts: { operation },
  resource: (call: MemoryCall) => ({ type: 'memory', id: call.key.memory_id }),
  lookUp: async (call: MemoryCall) => ({ facts: decidesOwn(call.ctx.principal, askersOfMemory(await found(call))) }),
  dryRun: async (call: MemoryCall) => ({
    [operation]: { memory_id: call.key.memory_id, status: (await found(call)).status },
  }),
});

const readMemory = defineOperation({
  ...ofMemory('get'),
  grant: 'svc:query.read',
  right: ['query'],
  effect: 'read',
  run: async (call) => viewOf(call.deps, await found(call)),
});

/** Who may write may stop a memory. Only the review is a decision for a person. */
const cancelMemory = defineOperation({
  ...ofMemory('cancel'),
  right: ['edit'],
  run: async (call) => decide(call, { decision: 'cancel' }),
});

const approveMemory = defineOperation({
  ...ofMemory('approve'),
  input: z.object({ payload_digest: z.string().optional() }),
  run: (call) => decide(call, { decision: 'approve', payload_digest: call.input.payload_digest }),
});

const rejectMemory = defineOperation({ ...ofMemory('reject'), run: (call) => decide(call, { decision: 'reject' }) });

async function decide(call: MemoryCall, decision: Parameters<typeof decideMemory>[3]): Promise<MemoryView> {
  const { principal, recordId } = call.ctx;
  return decideMemory(call.deps, principal, await found(call), decision, recordId);
}

const caseOf = (operation: DomainOperation) =>
  toolCase(
    operation,
    ({ memory_id, payload_digest }: Input) => ({ key: { memory_id }, input: { payload_digest } }),
    (memory: unknown) => ({ memory }),
  );

/** Follows a remembered text, cancels it or decides its review. */
export const memoryTool: DomainTool = multiplexedTool({
  name: 'memory',
  title: 'Follow a remembered text',
  description: 'Returns status, counts, retries and cost of a remembered text; cancels it, or decides its review.',
  hints: { readOnly: false, destructive: false, idempotent: false },
  input: Input,
  output: z.object({ memory: MemoryView }).meta({ id: 'MemoryAnswer' }),
  choose: ({ operation }) => operation,
  cases: {
    get: caseOf(readMemory),
    cancel: caseOf(cancelMemory),
    approve: caseOf(approveMemory),
    reject: caseOf(rejectMemory),
  },
});
