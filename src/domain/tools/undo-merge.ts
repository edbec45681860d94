import { z } from 'zod';
import { undoMerge } from '../../graph/memory/undo-merge.js';
import { defineOperation } from '../operation.js';
import { exampleId, Id } from '../../base/ids.js';
import { epochSeconds } from '../../base/time.js';
import { undoMergeRules } from '../memories/rules.js';

const Input = z
  .strictObject({ merge_id: z.string().min(1).max(300) })
  .meta({ id: 'UndoMergeInput', example: { merge_id: `${exampleId}/customer-1` } });

const Output = z
  .object({
    entity_id: Id.describe('The new entity of the mention.'),
    moved: z.int().describe('Facts that moved to it.').meta({ example: 2 }),
    restored: z.int().describe('The number of facts of the earlier entity that are valid again.').meta({ example: 1 }),
  })
  .meta({ id: 'UndoneMerge' });

/** Separates a mention in a remembered text from the entity with which it was merged. */
export const separateMerge = defineOperation({
  ...undoMergeRules,
  tool: {
    title: 'Undo a merge',
    description:
      'Gives a mention of a remembered text an entity of its own, moves its facts there, and restores what they had closed.',
    hints: { readOnly: false, destructive: false, idempotent: true },
  },
  input: Input,
  output: Output,
  resource: ({ input }) => ({ type: 'merge', id: input.merge_id }),
  dryRun: async ({ input }) => ({ undo: { merge_id: input.merge_id } }),
  async run({ deps, ctx: { principal, lifecycleId }, input }) {
    const stamp = { saved_by: principal.userId, source: null, recorded_at: epochSeconds(), lifecycle_id: lifecycleId };
    return undoMerge(deps.graph, principal.projectId, input.merge_id, stamp);
  },
});
