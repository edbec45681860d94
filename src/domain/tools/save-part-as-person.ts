import { z } from 'zod';
import { principalOfMaker } from '../../auth/authority.js';
import { savePart } from '../../graph/memory/save-part.js';
import { defineTool, type Tool } from '../../governance/tools/tool.js';
import { epochSeconds } from '../../base/time.js';
import { callToolAs } from './call-as.js';
import type { Deps } from '../deps.js';
import type { SavedPart } from '../../graph/memory/part.js';
import type { PartToSave, SavePartAsPerson } from '../memories/record.js';
import { saveContextTool } from './save-context.js';

type SaveDeps = Pick<Deps, 'mongo' | 'graph' | 'governance' | 'kernel' | 'metrics'>;

/**
 * Writes a part of a memory as a `save-context` call of the person who requested it. It passes all stages of the
 * pipeline, so the rules, the mode of the project, the quota and the audit apply to it.
 */
export function createSavePartAsPerson(deps: SaveDeps): SavePartAsPerson {
  return async (maker, part, signal) => {
    const work = { what: 'memory', needs: ['svc:ontology.write'], executionId: part.memoryId } as const;
    const principal = await principalOfMaker(deps.mongo.collections, maker, work);
    const body = await callToolAs(deps, principal, {
      tool: partTool(deps, part),
      // The facts that rules use. `facts` are counted, and `entity_types` are read from the entities.
      input: { entities: part.found.entities, relationships: [], facts: part.found.facts, source: part.source ?? '' },
      signal,
      cannotWait: 'the policies ask for an approval to save context, which a memory cannot wait for',
    });
    return (body as unknown as { saved: SavedPart }).saved;
  };
}

function partTool({ graph }: SaveDeps, { memoryId, part, source, found }: PartToSave): Tool {
  return defineTool(saveContextTool.operation, () => ({
    title: 'Write a part of a memory',
    description: '',
    input: z.looseObject({}),
    output: z.looseObject({}),
    hints: { readOnly: false, destructive: false, idempotent: true },
    resource: () => ({ type: 'memory', id: memoryId }),
    dryRun: async () => ({}),
    execute: async (_, { projectId, principal, lifecycleId }) => {
      const stamp = { saved_by: principal.userId, source, recorded_at: epochSeconds(), lifecycle_id: lifecycleId };
      return { body: { saved: await savePart(graph, { projectId, memoryId, part }, found, stamp) } };
    },
  })).create({});
}
