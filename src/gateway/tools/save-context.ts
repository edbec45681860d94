import { z } from 'zod';
import { planSave, save, summaryOf, type SavePlan } from '../../graph/save/save.js';
import { SaveInput } from '../../graph/save/input.js';
import type { Stamp } from '../../graph/store/provenance.js';
import type { Graph } from '../../stores/neo4j.js';
import { epochSeconds } from '../../time.js';
import { defineTool, type Tool, type ToolContext } from '../tool.js';

export const SaveAnswer = z
  .object({
    saved: z.object({ entities: z.int(), relationships: z.int(), facts: z.int() }),
    ids: z.array(z.string()).meta({ description: 'The id of each entity of the request, in its order.' }),
  })
  .meta({ id: 'SaveAnswer' });

export interface PreparedSave {
  input: Pick<SaveInput, 'entities' | 'relationships' | 'facts' | 'source'>;
  plan: SavePlan;
}

/** Writes entities, relationships and facts; simple-mode projects only, which policy sees to (contract, save-context). */
export function createSaveContextTool({ graph }: { graph: Graph }): Tool {
  return defineTool({
    name: 'save-context',
    title: 'Save to the context graph',
    description:
      'Creates and updates entities, relationships and facts, by id or by type and name. A fact that contradicts an earlier one closes it; nothing is deleted.',
    grant: 'svc:ontology.write',
    input: SaveInput,
    output: SaveAnswer,
    hints: { readOnly: false, destructive: false, idempotent: true },
    resource: () => ({ type: 'context', id: 'graph' }),
    ...savingInto(graph),
  });
}

/** The steps that save-context and catalog-ingest share. */
export function savingInto(graph: Graph) {
  return {
    prepare: async (input: PreparedSave['input'], ctx: ToolContext): Promise<PreparedSave> => ({
      input,
      plan: await planSave(graph, ctx.projectId, input, stampOf(input, ctx)),
    }),
    dryRun: async ({ plan }: PreparedSave) => summaryOf(plan),
    execute: async ({ input }: PreparedSave, ctx: ToolContext) => ({ body: await save(graph, ctx.projectId, input, stampOf(input, ctx)) }),
  };
}

function stampOf({ source }: PreparedSave['input'], { principal, lifecycleId }: ToolContext): Stamp {
  return { saved_by: principal.userId, source: source ?? null, recorded_at: epochSeconds(), lifecycle_id: lifecycleId };
}
