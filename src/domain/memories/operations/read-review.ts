import { z } from 'zod';
import { holdsGrant } from '../../../auth/principal.js';
import { readerOf } from '../../../governance/approvals/view.js';
import { textFacts } from '../../../governance/operations/operation.js';
import { Id } from '../../../base/ids.js';
import { ListQuery } from '../../../stores/lists.js';
import { defineOperation } from '../../operation.js';
import { findMemory } from '../operations.js';
import { MemoryReview } from '../record/review.js';
import { pageOfReview } from './review.js';

/** Reads everything that approving a memory would write. The audit chain records the readings of people. */
export const readReview = defineOperation({
  name: 'memory.review',
  effect: 'read',
  grant: 'svc:query.read',
  facts: textFacts('memory_id'),
  key: z.object({ memory_id: Id }),
  input: ListQuery,
  output: MemoryReview,
  errors: ['conflict', 'invalid_input'],
  async run({ deps, ctx: { principal }, key: { memory_id }, input }) {
    const memory = await findMemory(deps, principal, memory_id);
    const mayDecide = holdsGrant(principal, 'svc:ontology.write') || holdsGrant(principal, 'svc:governance.read');
    const seesWhole = readerOf(principal) === 'person' && mayDecide;
    if (seesWhole) await deps.governance.approvals.auditReading(principal, memory_id, 'memory');
    return pageOfReview(deps, memory, input, seesWhole);
  },
});
