import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../deps.js';
import { decidesOwnPreview } from '../../executions/operations/preview.js';
import { previewNamed } from '../../executions/rules.js';

/** The resource and the facts of a decision on this approval. */
export async function subjectOfApproval(deps: Pick<Deps, 'mongo'>, principal: Principal, id: string) {
  const preview = previewNamed(id);
  if (!preview) return { resource: { type: 'approval', id }, facts: { id } };
  const { executionId, name } = preview;
  const own = await decidesOwnPreview(deps, principal, executionId);
  return {
    resource: { type: 'execution', id: executionId },
    facts: { execution_id: executionId, agent_id: name.slice(name.lastIndexOf('/') + 1), ...own },
  };
}
