import { z } from 'zod';
import type { Principal } from '../../../auth/principal.js';
import { AppError, notFound } from '../../../base/errors.js';
import { textFacts } from '../../../governance/operations/operation.js';
import { defineCollection, type Collections } from '../../../stores/collections.js';
import { isDuplicateKey } from '../../../stores/mongo.js';
import { epochSeconds } from '../../../base/time.js';
import { defineOperation, writes } from '../../operation.js';
import { agentflowProblems, isEmpty } from '../rules.js';
import type { AgentflowDocument } from '../record.js';
import { findAgentflow } from './store.js';
import { Id, exampleId } from '../../../base/ids.js';

export const Promotion = z
  .object({ agentflow_id: z.string(), version: z.int(), promoted_at: z.number(), promoted_by: z.string() })
  .meta({
    id: 'Promotion',
    example: { agentflow_id: exampleId, version: 2, promoted_at: 1763683200.5, promoted_by: 'user_1' },
  });
type Promotion = z.infer<typeof Promotion>;

/** A frozen version. `_id` is `<agentflow id>:<version>`; the highest version is the promoted one. */
interface AgentflowVersionDocument extends Promotion {
  _id: string;
  projectID: string;
  agentflow: AgentflowDocument;
}

/**
 * Freezes the agentflow as its next version. Concurrent promotions get different versions. An approval applies to the
 * revision that the approver saw, and only to that one. Throws `validation_failed` for an agentflow that cannot run.
 */
export const promoteAgentflow = defineOperation({
  name: 'agentflow.promote',
  ...writes,
  facts: textFacts('id'),
  key: z.object({ id: Id }),
  output: Promotion,
  errors: ['validation_failed'],
  async boundState({ deps, ctx, key: { id } }) {
    const { revision } = await findAgentflow(deps.mongo.collections, ctx.principal, id);
    return { revision };
  },
  async approvalContext({ deps, ctx, key: { id } }) {
    const { name, role, agents, steps = [] } = await findAgentflow(deps.mongo.collections, ctx.principal, id);
    return {
      name,
      role,
      agents: agents.map(({ title, role_description }) => ({ title, role_description })),
      ...(steps.length > 0 && { steps: steps.map(({ _id, type, title }) => ({ _id, type, title })) }),
    };
  },
  async run({ deps, ctx: { principal }, key: { id } }) {
    const { collections } = deps.mongo;
    const agentflow = await findAgentflow(collections, principal, id);
    const problems = isEmpty(agentflow) ? ['the agentflow has no agents'] : agentflowProblems(agentflow);
    if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
    for (let version = (await promotedVersion(collections, id)) + 1; ; version += 1) {
      const promotion = { agentflow_id: id, version, promoted_at: epochSeconds(), promoted_by: principal.userId };
      try {
        await collections.agentflow_versions.insertOne({
          _id: `${id}:${version}`,
          projectID: agentflow.projectID,
          agentflow,
          ...promotion,
        });
        await collections.agentflows.updateOne({ _id: id }, { $max: { promoted_version: version } });
        return promotion;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
    }
  },
});

/** @throws AppError `not_found`, `conflict` if no version has been promoted (specification, status 409) */
export async function readPromoted(
  collections: Collections,
  principal: Principal,
  id: string,
): Promise<AgentflowVersionDocument> {
  await findAgentflow(collections, principal, id);
  const version = await promotedVersion(collections, id);
  const promoted = version === 0 ? null : await collections.agentflow_versions.findOne({ _id: `${id}:${version}` });
  if (!promoted) throw new AppError('conflict', 'the agentflow has no promoted version');
  return promoted;
}

/** @throws AppError `not_found` */
export async function findVersion(
  { agentflow_versions }: Pick<Collections, 'agentflow_versions'>,
  id: string,
  version: number,
): Promise<AgentflowVersionDocument> {
  const found = await agentflow_versions.findOne({ _id: `${id}:${version}` });
  if (!found) throw notFound('the version');
  return found;
}

async function promotedVersion(collections: Collections, id: string): Promise<number> {
  const agentflow = await collections.agentflows.findOne({ _id: id }, { projection: { promoted_version: 1 } });
  return agentflow?.promoted_version ?? 0;
}

export const agentflowVersionsCollection = defineCollection('agentflow_versions', {
  indexes: [{ keys: { agentflow_id: 1, version: -1 } }],
});

declare module '../../../stores/collections.js' {
  interface Documents {
    agentflow_versions: AgentflowVersionDocument;
  }
}
