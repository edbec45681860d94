import { graphWriteFacts } from './graph-write-facts.js';
import { z } from 'zod';
import { planSave, save, summaryOf } from '../../graph/save/save.js';
import { SaveInput } from '../../graph/save/input.js';
import type { Stamp } from '../../graph/store/provenance.js';
import type { Deps } from '../deps.js';
import { epochSeconds } from '../../base/time.js';
import type { CallContext } from '../../governance/operations/call-context.js';
import { defineOperation } from '../operation.js';
import { Id } from '../../base/ids.js';

const Count = z.int().meta({ example: 1 });
const Changes = z.object({ created: Count, changed: Count, unchanged: Count });
const FactChanges = Changes.extend({
  ended: Count.describe('Known facts that got an earlier end, as the request states it.'),
  closed: Count.describe('Known facts with another object that end where a new one begins.'),
});
export const SaveAnswer = z
  .object({
    saved: z
      .object({ entities: Count, relationships: Count, facts: Count })
      .describe('The elements of the request that are stored now. `changes` says what became of them.'),
    changes: z.object({ entities: Changes, relationships: Changes, facts: FactChanges }),
    ids: z.array(Id).describe('The ids of the entities, in the order of the request.'),
    bookmark: z
      .string()
      .nullable()
      .describe('Pass it to query-context as `bookmark` to find what was saved.')
      .meta({ example: 'FB:kcwQ1mF2c3RlbQ==' }),
  })
  .meta({ id: 'SaveAnswer' });

type GraphWrite = Pick<SaveInput, 'entities' | 'relationships' | 'facts' | 'source'>;
type WriteCall = { deps: Pick<Deps, 'graph'>; ctx: CallContext };

/** Writes entities, relationships and facts. Policies allow it only in simple-mode projects. */
export const saveContext = defineOperation({
  name: 'save-context',
  grant: 'svc:ontology.write',
  effect: 'write',
  facts: graphWriteFacts,
  changesContext: true,
  tool: {
    title: 'Save to the context graph',
    description:
      'Creates and updates entities, relationships and facts, by id or by type and name. A fact that contradicts an earlier one closes it. To end a fact, save it again with valid_to. Nothing is deleted.',
    hints: { readOnly: false, destructive: false, idempotent: true },
  },
  input: SaveInput,
  output: SaveAnswer,
  resource: () => ({ type: 'context', id: 'graph' }),
  prepare: (call) => planWrite(call, call.input),
  dryRun: async ({ prepared }) => summaryOf(prepared),
  run: (call) => write(call, call.input),
});

/** Checks a write to the graph against its ontology and its contents. */
export function planWrite({ deps, ctx }: WriteCall, input: GraphWrite) {
  return planSave(deps.graph, ctx.principal.projectId, input, stampOf(input, ctx));
}

export function write({ deps, ctx }: WriteCall, input: GraphWrite) {
  return save(deps.graph, ctx.principal.projectId, input, stampOf(input, ctx));
}

function stampOf({ source }: GraphWrite, { principal, lifecycleId }: CallContext): Stamp {
  return { saved_by: principal.userId, source: source ?? null, recorded_at: epochSeconds(), lifecycle_id: lifecycleId };
}
