import { z } from 'zod';
import { AppError, notFound } from '../../../base/errors.js';
import { Digest } from '../../../base/hash.js';
import { Id } from '../../../base/ids.js';
import { queryNumber } from '../../../base/validation.js';
import type { Collections } from '../../../stores/collections.js';
import { countUpTo, decodePosition, encodePosition, listOf, ListQuery } from '../../../stores/lists.js';
import { defineOperation, reads } from '../../operation.js';
import { ChannelName, ownValue, production, Promotion } from '../../agentflows/record/channels.js';
import { Agentflow, type AgentflowDocument } from '../../agentflows/record.js';
import { exampleAgentflow } from '../../agentflows/record/examples.js';
import { findAgentflow, toAgentflow } from '../../agentflows/operations/store.js';
import { exampleRelease, Release, toRelease, type ReleaseContent } from '../record.js';
import { differenceFields, differenceOf } from '../rules/difference.js';
import { promotionOf } from './history.js';
import { findRelease } from './publish.js';
import { snapshotOf } from './snapshot.js';

const key = z.object({ id: Id });

const ReleaseDetails = Release.extend({ agentflow: Agentflow }).meta({
  id: 'ReleaseDetails',
  example: { ...exampleRelease, agentflow: exampleAgentflow },
});

export const listReleases = defineOperation({
  ...reads,
  name: 'release.list',
  key,
  input: ListQuery,
  output: listOf(Release),
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
      data: page.map(toRelease),
      ...total,
      next_cursor: found.length > limit && last ? encodePosition({ at: last.version, id: last._id }) : null,
    };
  },
});

export const readRelease = defineOperation({
  ...reads,
  name: 'release.read',
  key: key.extend({ version: queryNumber(z.int().min(1).max(9_999_999_999)) }),
  output: ReleaseDetails,
  async run({ deps, ctx, key: { id, version } }) {
    const { collections } = deps.mongo;
    await findAgentflow(collections, ctx.principal, id);
    const found = await findRelease(collections, id, version);
    return { ...toRelease(found), agentflow: toAgentflow(found.agentflow) };
  },
});

export const readChannels = defineOperation({
  ...reads,
  name: 'release.read-channels',
  key,
  output: z.object({ channels: z.array(Promotion).describe('By name.') }).meta({ id: 'Channels' }),
  async run({ deps, ctx, key: { id } }) {
    const { channels = {} } = await findAgentflow(deps.mongo.collections, ctx.principal, id);
    const names = Object.keys(channels).sort();
    return {
      channels: names.flatMap((name) => {
        const pointer = ownValue(channels, name);
        return pointer ? [promotionOf(id, name, pointer)] : [];
      }),
    };
  },
});

const Place = z.string().min(1).max(100);
const Compared = z.object({
  version: z.int().nullable().describe('The release. Null for the saved agentflow.').meta({ example: 3 }),
  digest: Digest,
});

/** Compares two places: the saved agentflow, releases, or those to which channels point. */
export const readDifference = defineOperation({
  ...reads,
  name: 'release.compare',
  key,
  input: z.object({
    from: Place.default(production)
      .describe('`draft`, the number of a release, or a channel.')
      .meta({ example: production }),
    to: Place.default('draft').describe('Like `from`.').meta({ example: 'draft' }),
  }),
  output: z.object({ from: Compared, to: Compared, ...differenceFields }).meta({ id: 'ReleaseDifference' }),
  async run({ deps, ctx, key: { id }, input }) {
    const { collections } = deps.mongo;
    const agentflow = await findAgentflow(collections, ctx.principal, id);
    const from = await contentAt(collections, agentflow, 'from', input.from);
    const to = await contentAt(collections, agentflow, 'to', input.to);
    const shown = ({ version, digest }: Content) => ({ version, digest });
    return { from: shown(from), to: shown(to), ...differenceOf(from.content, to.content) };
  },
});

interface Content {
  version: number | null;
  digest: string;
  content: ReleaseContent;
}

async function contentAt(
  collections: Collections,
  agentflow: AgentflowDocument,
  parameter: 'from' | 'to',
  place: string,
): Promise<Content> {
  if (place === 'draft') return { version: null, ...(await snapshotOf(collections, agentflow)) };
  const version = /^\d{1,10}$/.test(place) ? Number(place) : versionIn(agentflow, parameter, place);
  const release = await findRelease(collections, agentflow._id, version);
  return { version, digest: release.digest, content: release };
}

function versionIn({ channels }: AgentflowDocument, parameter: 'from' | 'to', place: string): number {
  if (!ChannelName.safeParse(place).success)
    throw new AppError('invalid_request', `${parameter}: must be "draft", the number of a release, or a channel`);
  const pointer = ownValue(channels, place);
  if (!pointer) throw notFound(`a release in the channel ${JSON.stringify(place)}`);
  return pointer.version;
}
