import { principalOfMaker, type Maker } from '../../../auth/authority.js';
import { callAs } from '../../../governance/kernel/call-as.js';
import type { Deps } from '../../deps.js';
import { startMemory, type NewMemory } from '../operations.js';
import { rememberRules } from '../rules.js';

/**
 * Remembers the text of a document in the name of whoever uploaded it. It is the same operation as `remember`, with the same
 * grant and rules. If an earlier attempt is recorded as completed, further attempts are not recorded.
 * @throws AppError `access_denied` if the person may not do this any more, and the refusals of the operation
 */
export async function rememberAsMaker(deps: Deps, maker: Maker, id: string, memory: NewMemory): Promise<void> {
  const { collections } = deps.mongo;
  const work = { what: 'document', needs: ['svc:ontology.write'], executionId: id } as const;
  const principal = await principalOfMaker(collections, maker, work);
  const earlier = await collections.lifecycles.findOne({ _id: id });
  if (earlier?.status === 'completed') return void (await startMemory(deps, principal, id, memory));
  const performed = await deps.kernel.perform(
    callAs(async () => principal, {
      // The first attempt uses the id of the memory, so that later attempts find it.
      ...(!earlier && { lifecycleId: id }),
      operation: rememberRules,
      entrance: 'document',
      validate: async () => ({
        input: memory,
        resource: { type: 'memory', id },
        dryRun: false,
        run: async () => ({ body: await startMemory(deps, principal, id, memory) }),
      }),
    }),
  );
  if ('error' in performed) throw performed.error;
}
