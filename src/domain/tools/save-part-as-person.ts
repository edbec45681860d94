import { z } from 'zod';
import { principalOfRun } from '../../auth/run-principal.js';
import { savePart } from '../../graph/memory/save-part.js';
import { createPipeline } from '../../governance/tools/perform-tool.js';
import { defineTool, type Tool } from '../../governance/tools/tool.js';
import { currentTrace } from '../../http/trace.js';
import { epochSeconds } from '../../time.js';
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
  const { governance, kernel, metrics } = deps;
  return async (identity, part, signal) => {
    const principal = await principalOfRun(deps.mongo.collections, identity, ['svc:ontology.write']);
    const pipeline = createPipeline({
      kernel,
      quota: governance.quota,
      metrics,
      cannotWait: 'the policies ask for an approval to save context, which a memory cannot wait for',
      authenticate: async () => principal,
      resolveScope: async (authenticated) => authenticated,
    });
    const { body } = await pipeline({
      tool: partTool(deps, part),
      // The facts that rules use. `facts` are counted, and `entity_types` are read from the entities.
      input: { entities: part.found.entities, relationships: [], facts: part.found.facts, source: part.source ?? '' },
      params: {},
      authorization: undefined,
      workspace: undefined,
      resumeToken: undefined,
      channel: 'agent',
      trace: currentTrace(),
      signal,
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
