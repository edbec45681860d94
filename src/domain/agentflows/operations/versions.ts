import { z } from 'zod';
import { Id } from '../../../base/ids.js';
import { pickShown } from '../../../base/pick.js';
import { countUpTo, decodePosition, encodePosition, listOf, ListQuery } from '../../../stores/lists.js';
import { queryNumber } from '../../../base/validation.js';
import { defineOperation, reads } from '../../operation.js';
import { Agentflow } from '../record.js';
import { exampleAgentflow } from '../record/examples.js';
import { findVersion, Promotion } from './promote.js';
import { findAgentflow, toAgentflow } from './store.js';

const AgentflowVersion = Promotion.extend({ agentflow: Agentflow }).meta({
  id: 'AgentflowVersion',
  example: {
    agentflow_id: exampleAgentflow._id,
    version: 2,
    promoted_at: 1763683200.5,
    promoted_by: 'user_1',
    agentflow: exampleAgentflow,
  },
});

export const listVersions = defineOperation({
  ...reads,
  name: 'agentflow.list-versions',
  key: z.object({ id: Id }),
  input: ListQuery,
  output: listOf(Promotion),
  async run({ deps, ctx, key: { id }, input: { limit, cursor } }) {
    const { collections } = deps.mongo;
    await findAgentflow(collections, ctx.principal, id);
    const all = { agentflow_id: id };
    const before = cursor === undefined ? {} : { version: { $lt: decodePosition(cursor).at ?? 0 } };
    const [total, found] = await Promise.all([
      countUpTo(collections.agentflow_versions, all),
      collections.agentflow_versions
        .find({ ...all, ...before }, { projection: { agentflow: 0 } })
        .sort({ version: -1 })
        .limit(limit + 1)
        .toArray(),
    ]);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      data: page.map((promoted) => pickShown(Promotion, promoted)),
      ...total,
      next_cursor: found.length > limit && last ? encodePosition({ at: last.version, id: last._id }) : null,
    };
  },
});

export const readVersion = defineOperation({
  ...reads,
  name: 'agentflow.read-version',
  key: z.object({ id: Id, version: queryNumber(z.int().min(1).max(9_999_999_999)) }),
  output: AgentflowVersion,
  async run({ deps, ctx, key: { id, version } }) {
    const { collections } = deps.mongo;
    await findAgentflow(collections, ctx.principal, id);
    const found = await findVersion(collections, id, version);
    return { ...pickShown(Promotion, found), agentflow: toAgentflow(found.agentflow) };
  },
});
