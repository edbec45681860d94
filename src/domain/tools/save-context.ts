import { graphWriteFacts } from './graph-write-facts.js';
import { z } from 'zod';
import { planSave, save, summaryOf, type SavePlan } from '../../graph/save/save.js';
import { SaveInput } from '../../graph/save/input.js';
import type { Stamp } from '../../graph/store/provenance.js';
import type { Graph } from '../../stores/neo4j.js';
import { epochSeconds } from '../../base/time.js';
import { defineTool, type ToolContext } from '../../governance/tools/tool.js';
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

interface PreparedSave {
  input: Pick<SaveInput, 'entities' | 'relationships' | 'facts' | 'source'>;
  plan: SavePlan;
}

/** Writes entities, relationships and facts. Policies allow it only in simple-mode projects (contract). */
export const saveContextTool = defineTool(
  { name: 'save-context', grant: 'svc:ontology.write', effect: 'write', facts: graphWriteFacts, changesContext: true },
  ({ graph }: { graph: Graph }) => ({
    title: 'Save to the context graph',
    description:
      'Creates and updates entities, relationships and facts, by id or by type and name. A fact that contradicts an earlier one closes it. To end a fact, save it again with valid_to. Nothing is deleted.',
    input: SaveInput,
    output: SaveAnswer,
    hints: { readOnly: false, destructive: false, idempotent: true },
    resource: () => ({ type: 'context', id: 'graph' }),
    ...savingInto(graph),
  }),
);

/** The steps that save-context and catalog-ingest share. */
export function savingInto(graph: Graph) {
  return {
    prepare: async (input: PreparedSave['input'], ctx: ToolContext): Promise<PreparedSave> => ({
      input,
      plan: await planSave(graph, ctx.projectId, input, stampOf(input, ctx)),
    }),
    dryRun: async ({ plan }: PreparedSave) => summaryOf(plan),
    execute: async ({ input }: PreparedSave, ctx: ToolContext) => ({
      body: await save(graph, ctx.projectId, input, stampOf(input, ctx)),
    }),
  };
}

function stampOf({ source }: PreparedSave['input'], { principal, lifecycleId }: ToolContext): Stamp {
  return { saved_by: principal.userId, source: source ?? null, recorded_at: epochSeconds(), lifecycle_id: lifecycleId };
}
