import { z } from 'zod';
import { Id } from '../../../base/ids.js';
import { pickShown } from '../../../base/pick.js';
import { epochSeconds } from '../../../base/time.js';
import { defineOperation, writes } from '../../operation.js';
import { AgentflowEditors, EditingInput } from '../record/editors.js';
import { findAgentflow } from './store.js';

/** A page speaks three times as often, so that one lost message has no effect. */
const leaseMs = 60_000;
const maxShown = 20;

/**
 * Notes that a person has the editor of an agentflow open, and answers who else has. Needs the grant of an editor, but is a read for rules and
 * records: the agentflow stays as it is, and a page repeats the call all the time.
 */
export const editAgentflow = defineOperation({
  name: 'agentflow.edit',
  ...writes,
  effect: 'read',
  key: z.object({ id: Id }),
  input: EditingInput,
  output: AgentflowEditors,
  async run({ deps, ctx: { principal }, key: { id }, input: { window, state } }) {
    await findAgentflow(deps.mongo.collections, principal, id);
    const { agentflow_editors: editors } = deps.mongo.collections;
    const { userId: user_id } = principal;
    const _id = `${id}/${user_id}`;
    const now = new Date();
    if (state === 'closed') await editors.deleteOne({ _id, window });
    else {
      const present = await editors.findOne({ _id });
      const isOpen = present !== null && present.expires_at > now;
      const said = {
        agentflow_id: id,
        user_id,
        since: isOpen ? present.since : epochSeconds(now),
        has_changes: state === 'changed',
        window,
        expires_at: new Date(now.getTime() + leaseMs),
      };
      await editors.replaceOne({ _id }, said, { upsert: true });
    }
    const others = await editors
      .find({ agentflow_id: id, user_id: { $ne: user_id }, expires_at: { $gt: now } })
      .sort({ since: 1 })
      .limit(maxShown)
      .toArray();
    return { data: others.map((editor) => pickShown(AgentflowEditors.shape.data.element, editor)) };
  },
});
