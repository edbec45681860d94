import { z } from 'zod';
import type { Principal } from '../../../auth/principal.js';
import { AppError } from '../../../errors.js';
import type { Collections } from '../../../stores/collections.js';
import { isDuplicateKey } from '../../../stores/mongo.js';
import { epochSeconds } from '../../../time.js';
import { problemsOf } from './checks.js';
import type { AgentflowDocument } from './schemas.js';
import { readAgentflow } from './store.js';

export const Promotion = z
  .object({ agentflow_id: z.string(), version: z.int(), promoted_at: z.number(), promoted_by: z.string() })
  .meta({ id: 'Promotion', example: { agentflow_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', version: 2, promoted_at: 1763683200.5, promoted_by: 'user_1' } });
export type Promotion = z.infer<typeof Promotion>;

/** A frozen version. `_id` is `<agentflow id>:<version>`; the highest version is the promoted one. */
export interface AgentflowVersionDocument extends Promotion {
  _id: string;
  projectID: string;
  agentflow: AgentflowDocument;
}

/**
 * Freezes the agentflow as its next version. Of promotions at once each gets a version of its own.
 * @throws AppError `validation_failed` for an agentflow that could not run
 */
export async function promoteAgentflow(collections: Collections, principal: Principal, id: string): Promise<Promotion> {
  const agentflow = await readAgentflow(collections, principal, id);
  const problems = agentflow.agents.length === 0 ? ['the agentflow has no agents'] : problemsOf(agentflow);
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  for (let version = (await promotedVersion(collections, id)) + 1; ; version += 1) {
    const promotion = { agentflow_id: id, version, promoted_at: epochSeconds(), promoted_by: principal.userId };
    try {
      await collections.agentflow_versions.insertOne({ _id: `${id}:${version}`, projectID: agentflow.projectID, agentflow, ...promotion });
      await collections.agentflows.updateOne({ _id: id }, { $max: { promoted_version: version } });
      return promotion;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

/** @throws AppError `not_found`, `conflict` where no version was promoted (specification, status 409) */
export async function readPromoted(collections: Collections, principal: Principal, id: string): Promise<AgentflowVersionDocument> {
  await readAgentflow(collections, principal, id);
  const version = await promotedVersion(collections, id);
  const promoted = version === 0 ? null : await collections.agentflow_versions.findOne({ _id: `${id}:${version}` });
  if (!promoted) throw new AppError('conflict', 'the agentflow has no promoted version');
  return promoted;
}

async function promotedVersion(collections: Collections, id: string): Promise<number> {
  const agentflow = await collections.agentflows.findOne({ _id: id }, { projection: { promoted_version: 1 } });
  return agentflow?.promoted_version ?? 0;
}
