import { principalOfMaker } from '../../auth/authority.js';
import { epochSeconds } from '../../base/time.js';
import { callAs } from '../../governance/kernel/call-as.js';
import { savePart } from '../../graph/memory/save-part.js';
import type { Deps } from '../deps.js';
import type { SavedPart } from '../../graph/memory/part.js';
import type { SavePartAsPerson } from '../memories/record.js';
import { saveContext } from './save-context.js';

/**
 * Writes a part of a memory as a `save-context` call of the person who requested it. It passes all stages of the kernel,
 * so the rules, the mode of the project, the quota and the audit apply to it.
 */
export function createSavePartAsPerson({
  mongo,
  graph,
  kernel,
}: Pick<Deps, 'mongo' | 'graph' | 'kernel'>): SavePartAsPerson {
  return async (maker, { memoryId, part, source, found }) => {
    const work = { what: 'memory', needs: ['svc:ontology.write'], executionId: memoryId } as const;
    const principal = await principalOfMaker(mongo.collections, maker, work);
    const { userId: saved_by, projectId } = principal;
    const performed = await kernel.perform(
      callAs(async () => principal, {
        entrance: 'memory',
        operation: saveContext,
        validate: async () => ({
          // The facts that rules use. `facts` are counted, and `entity_types` are read from the entities.
          input: { entities: found.entities, relationships: [], facts: found.facts, source: source ?? '' },
          resource: { type: 'memory', id: memoryId },
          dryRun: false,
          async run({ lifecycleId }) {
            const stamp = { saved_by, source, recorded_at: epochSeconds(), lifecycle_id: lifecycleId };
            return { body: await savePart(graph, { projectId, memoryId, part }, found, stamp) };
          },
        }),
      }),
    );
    if ('error' in performed) throw performed.error;
    return performed.ending.body as SavedPart;
  };
}
