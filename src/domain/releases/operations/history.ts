import { z } from 'zod';
import { Id } from '../../../base/ids.js';
import { defineCollection, type Collections } from '../../../stores/collections.js';
import { insertOnce } from '../../../stores/insert-once.js';
import { countUpTo, decodePosition, encodePosition, listOf, ListQuery, maxCount } from '../../../stores/lists.js';
import { defineOperation, reads } from '../../operation.js';
import { ChannelName, ownValue, production, Promotion, type ChannelPointer } from '../../agentflows/record/channels.js';
import type { AgentflowDocument } from '../../agentflows/record.js';
import { findAgentflow } from '../../agentflows/operations/store.js';

/** To what a channel has pointed before. `_id` is `<agentflow id>:<channel>:<moves>`. */
type ChannelMoveDocument = ChannelPointer & { _id: string; agentflow_id: string; channel: string };

/**
 * Keeps what a channel points to. Runs before the pointer moves on, so the history has everything to which the channel has ever
 * pointed, also if the process dies in between, and nothing else.
 */
export async function keepMove(
  { channel_moves }: Pick<Collections, 'channel_moves'>,
  { _id: agentflow_id }: AgentflowDocument,
  channel: string,
  pointer: ChannelPointer,
): Promise<void> {
  await insertOnce(channel_moves, {
    ...pointer,
    _id: `${agentflow_id}:${channel}:${pointer.moves}`,
    agentflow_id,
    channel,
  });
}

/**
 * The digest of the release that a promotion to `digest` replaces, or has replaced: if only its answer was lost, its repeat must
 * find its approval, which names this one. Null if `production` has pointed to nothing else.
 */
export async function replacedBy(
  { channel_moves }: Pick<Collections, 'channel_moves'>,
  { _id: agentflow_id, channels }: AgentflowDocument,
  digest: string,
): Promise<string | null> {
  const current = ownValue(channels, production);
  if (current?.digest !== digest) return current?.digest ?? null;
  const earlier = { agentflow_id, channel: production, moves: { $lt: current.moves }, digest: { $ne: digest } };
  return (await channel_moves.findOne(earlier, { sort: { moves: -1 } }))?.digest ?? null;
}

/** Lists to what a channel points now, and to what it has pointed before. */
export const readHistory = defineOperation({
  ...reads,
  name: 'release.read-history',
  key: z.object({ id: Id, channel: ChannelName }),
  input: ListQuery,
  output: listOf(Promotion),
  async run({ deps, ctx, key: { id, channel }, input: { limit, cursor } }) {
    const { channel_moves } = deps.mongo.collections;
    const { channels } = await findAgentflow(deps.mongo.collections, ctx.principal, id);
    const current = ownValue(channels, channel);
    if (!current) return { data: [], total_count: 0, next_cursor: null };
    const earlier = { agentflow_id: id, channel, moves: { $lt: current.moves } };
    const before = cursor === undefined ? undefined : (decodePosition(cursor).at ?? 0);
    const [total, found] = await Promise.all([
      countUpTo(channel_moves, earlier),
      channel_moves
        .find({ ...earlier, moves: { $lt: before ?? current.moves } })
        .sort({ moves: -1 })
        .limit(limit + 1)
        .toArray(),
    ]);
    const all: ChannelPointer[] = before === undefined ? [current, ...found.map(pointerIn)] : found.map(pointerIn);
    const page = all.slice(0, limit);
    const last = page.at(-1);
    return {
      data: page.map((pointer) => promotionOf(id, channel, pointer)),
      ...total,
      total_count: Math.min(total.total_count + 1, maxCount),
      next_cursor: all.length > limit && last ? encodePosition({ at: last.moves, id: `${id}:${channel}` }) : null,
    };
  },
});

export function promotionOf(agentflow_id: string, channel: string, pointer: ChannelPointer): Promotion {
  const { moves: _moves, request: _request, ...shown } = pointer;
  return { agentflow_id, channel, note: '', approval_id: null, lifecycle_id: null, ...shown };
}

function pointerIn({
  _id,
  agentflow_id: _agentflow,
  channel: _channel,
  ...pointer
}: ChannelMoveDocument): ChannelPointer {
  return pointer;
}

export const channelMovesCollection = defineCollection('channel_moves', {
  indexes: [{ keys: { agentflow_id: 1, channel: 1, moves: -1 } }],
});

declare module '../../../stores/collections.js' {
  interface Documents {
    channel_moves: ChannelMoveDocument;
  }
}
