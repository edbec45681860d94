import { z } from 'zod';
import { AppError } from '../../../base/errors.js';
import { Digest, sha256Hex } from '../../../base/hash.js';
import { isJsonObject } from '../../../base/json.js';
import { Id } from '../../../base/ids.js';
import { epochSeconds } from '../../../base/time.js';
import type { CallContext } from '../../../governance/operations/call-context.js';
import { integer, textFacts, type Fact } from '../../../governance/operations/operation.js';
import type { Collections } from '../../../stores/collections.js';
import { untilWritten } from '../../../stores/until-written.js';
import {
  ChannelName,
  maxChannels,
  ownValue,
  Percent,
  production,
  Promotion,
  Slots,
  type ChannelPointer,
} from '../../agentflows/record/channels.js';
import type { AgentflowDocument } from '../../agentflows/record.js';
import { findAgentflow } from '../../agentflows/operations/store.js';
import { defineOperation, writes } from '../../operation.js';
import type { ReleaseDocument } from '../record.js';
import { connectorsOf } from '../rules/bind.js';
import { differenceOf, type Difference } from '../rules/difference.js';
import { keepMove, promotionOf, replacedBy } from './history.js';
import { slotProblems, unknownSlots } from './problems.js';
import { findRelease, publish } from './publish.js';
import { snapshotOf } from './snapshot.js';

const promoteTimeoutMs = 10_000;

/** How many percent of the runs take another release. */
const splitPercent: Fact = {
  type: 'Long',
  read: ({ split }) => (isJsonObject(split) && typeof split.percent === 'number' ? split.percent : 0),
};

/**
 * Rules treat promoting an agentflow, pointing a channel to a release, and rolling it back as one operation. They can use its
 * former name as well.
 */
const pointRules = {
  ...writes,
  name: 'release.point',
  alias: 'agentflow.promote',
  facts: { ...textFacts('id', 'channel'), version: integer('version'), split_percent: splitPercent },
  output: Promotion,
  outcome: async ({ difference_digest }: Promotion) => `difference ${difference_digest}`,
} as const;

const NewPromotion = z
  .strictObject({
    version: z.int().min(1).describe('The release to which the channel then points.').meta({ example: 3 }),
    expected: Digest.nullable().describe(
      'The digest of the release to which the channel points now, or null if it points to none. If it points to another one, the answer is 409.',
    ),
    slots: Slots.optional().describe(
      'Replaces the connectors of the channel. If absent, it keeps those of slots that the release has.',
    ),
    split: z
      .strictObject({ version: z.int().min(1).meta({ example: 4 }), percent: Percent })
      .nullable()
      .default(null)
      .describe('Another release for a part of the runs.'),
    note: z.string().max(2000).default('').describe('Why, for people. The history of the channel shows it.'),
    projectID: z.string().optional(),
  })
  .meta({ id: 'PromotionInput', example: { version: 3, expected: null } });
type NewPromotion = z.infer<typeof NewPromotion>;

/** Points a channel to a release: to a newer one, or back to an earlier one. Only one of several calls with the same `expected` succeeds. */
export const pointChannel = defineOperation({
  ...pointRules,
  key: z.object({ id: Id, channel: ChannelName }),
  input: NewPromotion,
  errors: ['conflict', 'validation_failed'],
  lookUp: async ({ key: { id } }) => ({ resource: { type: 'agentflow', id } }),
  async boundState({ deps, ctx, key: { id, channel }, input }) {
    const { collections } = deps.mongo;
    const agentflow = await findAgentflow(collections, ctx.principal, id);
    const target = await targetOf(collections, agentflow, channel, input);
    // Not what the channel points to now: if only the answer was lost, a repeat must find its approval.
    return { from: input.expected, ...digestsOf(target) };
  },
  async approvalContext({ deps, ctx, key: { id, channel }, input }) {
    const { collections } = deps.mongo;
    const agentflow = await findAgentflow(collections, ctx.principal, id);
    const { release, split } = await targetOf(collections, agentflow, channel, input);
    const differenceTo = (to: ReleaseDocument) => differenceFrom(collections, agentflow, channel, to);
    return {
      name: agentflow.name,
      difference: await differenceTo(release),
      ...(split && { split: { percent: split.percent, difference: await differenceTo(split.release) } }),
    };
  },
  async run({ deps, ctx, key: { id, channel }, input }) {
    const { principal, recordId } = ctx;
    const { collections } = deps.mongo;
    // A call that is overtaken by one that points to the same release can still succeed, because the channel is as expected.
    const attempt = async () => {
      const agentflow = await findAgentflow(collections, principal, id);
      const current = ownValue(agentflow.channels, channel);
      if (current?.request === recordId) return current;
      refuseUnexpected(channel, current, input.expected);
      const target = await targetOf(collections, agentflow, channel, input);
      return point(collections, agentflow, { channel, target, note: input.note, ...callerOf(ctx) });
    };
    const late = () => new AppError('conflict', 'too many concurrent changes of the channel; try again');
    return promotionOf(id, channel, await untilWritten(promoteTimeoutMs, attempt, late));
  },
});

/** Publishes the saved agentflow and points `production` to this release. */
export const promoteAgentflow = defineOperation({
  ...pointRules,
  fixedFacts: { channel: production },
  key: z.object({ id: Id }),
  errors: ['conflict', 'validation_failed'],
  lookUp: async ({ key: { id } }) => ({ resource: { type: 'agentflow', id } }),
  async boundState({ deps, ctx, key: { id } }) {
    const { collections } = deps.mongo;
    const agentflow = await findAgentflow(collections, ctx.principal, id);
    const { digest: to } = await snapshotOf(collections, agentflow);
    return { from: await replacedBy(collections, agentflow, to), to };
  },
  async approvalContext({ deps, ctx, key: { id } }) {
    const { collections } = deps.mongo;
    const agentflow = await findAgentflow(collections, ctx.principal, id);
    const { content } = await snapshotOf(collections, agentflow);
    const { name, role, agents, steps = [] } = agentflow;
    return {
      name,
      role,
      agents: agents.map(({ title, role_description }) => ({ title, role_description })),
      ...(steps.length > 0 && { steps: steps.map(({ _id, type, title }) => ({ _id, type, title })) }),
      difference: await differenceFrom(collections, agentflow, production, content),
    };
  },
  async run({ deps, ctx, key: { id } }) {
    const { principal, recordId } = ctx;
    const { collections } = deps.mongo;
    const saved = await findAgentflow(collections, principal, id);
    const release = await publish(collections, saved, { note: '', by: principal.userId, request: recordId });
    return promoteRelease(collections, ctx, release);
  },
});

/** Points `production` to a release that was just published, unless it already points to a newer one. */
async function promoteRelease(
  collections: Collections,
  ctx: CallContext,
  release: ReleaseDocument,
): Promise<Promotion> {
  const { principal, recordId: request } = ctx;
  const { agentflow_id: id, version } = release;
  const first = (await findAgentflow(collections, principal, id)).channels?.[production];
  const attempt = async () => {
    const agentflow = await findAgentflow(collections, principal, id);
    const current = ownValue(agentflow.channels, production);
    if (current?.request === request) return current;
    const target = await targetOf(collections, agentflow, production, { version, split: null });
    const isOvertaken = current?.moves !== first?.moves && (current?.version ?? 0) > version;
    const change = { channel: production, target, note: '', ...callerOf(ctx) };
    return isOvertaken ? pointerOf(collections, agentflow, change) : point(collections, agentflow, change);
  };
  const late = () => new AppError('conflict', 'too many concurrent promotions of the agentflow; try again');
  return promotionOf(id, production, await untilWritten(promoteTimeoutMs, attempt, late));
}

/** What a channel is to point to. */
interface Target {
  release: ReleaseDocument;
  slots: Record<string, string>;
  split: { release: ReleaseDocument; percent: number } | null;
}

/** @throws AppError `not_found` for an unknown release, `validation_failed` if a release cannot run with the slots */
async function targetOf(
  collections: Collections,
  agentflow: AgentflowDocument,
  channel: string,
  { version, slots: given, split: share }: Pick<NewPromotion, 'version' | 'slots' | 'split'>,
): Promise<Target> {
  const release = await findRelease(collections, agentflow._id, version);
  const split = share && {
    release: await findRelease(collections, agentflow._id, share.version),
    percent: share.percent,
  };
  const known = new Set(
    [release, ...(split ? [split.release] : [])].flatMap(({ slots }) => slots.map(({ name }) => name)),
  );
  const kept = Object.entries(ownValue(agentflow.channels, channel)?.slots ?? {}).filter(([name]) => known.has(name));
  const slots = given ?? Object.fromEntries(kept);
  const all = { slots: [...release.slots, ...(split?.release.slots ?? [])] };
  const problems = [
    ...unknownSlots(all, slots),
    ...(await slotProblems(collections, release, slots)),
    ...(split ? await slotProblems(collections, split.release, slots) : []),
  ];
  if (problems.length > 0) throw new AppError('validation_failed', [...new Set(problems)].join('; '));
  return { release, slots, split };
}

function digestsOf({ release, slots, split }: Target) {
  const all = [...connectorsOf(release, slots), ...(split ? connectorsOf(split.release, slots) : [])];
  return {
    to: release.digest,
    slots: Object.fromEntries(all),
    ...(split && { split: { to: split.release.digest, percent: split.percent } }),
  };
}

interface PointerChange {
  channel: string;
  target: Target;
  note: string;
  by: string;
  request: string;
  approval_id: string | null;
  lifecycle_id: string | null;
}

function callerOf({ principal, recordId, approvalId, lifecycleId }: CallContext) {
  return { by: principal.userId, request: recordId, approval_id: approvalId ?? null, lifecycle_id: lifecycleId };
}

async function pointerOf(
  collections: Collections,
  agentflow: AgentflowDocument,
  { channel, target: { release, slots, split }, by, ...said }: PointerChange,
): Promise<ChannelPointer> {
  const { digest } = await differenceFrom(collections, agentflow, channel, release);
  const ofSplit = split && (await differenceFrom(collections, agentflow, channel, split.release)).digest;
  const difference_digest = ofSplit === null ? digest : sha256Hex(`${digest} ${ofSplit}`);
  return {
    version: release.version,
    digest: release.digest,
    slots,
    split: split && { version: split.release.version, digest: split.release.digest, percent: split.percent },
    difference_digest,
    promoted_at: epochSeconds(),
    promoted_by: by,
    moves: (ownValue(agentflow.channels, channel)?.moves ?? 0) + 1,
    ...said,
  };
}

/** Writes the pointer unless the channel was changed since `agentflow` was read. Returns undefined if it was. */
export async function point(
  collections: Collections,
  agentflow: AgentflowDocument,
  change: PointerChange,
): Promise<ChannelPointer | undefined> {
  const { channel } = change;
  const current = ownValue(agentflow.channels, channel);
  if (!current && Object.keys(agentflow.channels ?? {}).length >= maxChannels)
    throw new AppError('validation_failed', `an agentflow can have at most ${maxChannels} channels`);
  const pointer = await pointerOf(collections, agentflow, change);
  if (current) await keepMove(collections, agentflow, channel, current);
  const field = `channels.${channel}`;
  const before = current ? { [`${field}.moves`]: current.moves } : { [field]: { $exists: false } };
  const { matchedCount } = await collections.agentflows.updateOne(
    { _id: agentflow._id, is_deleted: false, ...before },
    { $set: { [field]: pointer, ...(channel === production && { promoted_version: pointer.version }) } },
  );
  return matchedCount === 1 ? pointer : undefined;
}

async function differenceFrom(
  collections: Collections,
  agentflow: AgentflowDocument,
  channel: string,
  to: Parameters<typeof differenceOf>[1],
): Promise<Difference> {
  const current = ownValue(agentflow.channels, channel);
  const from = current ? await findRelease(collections, agentflow._id, current.version) : null;
  return differenceOf(from, to);
}

function refuseUnexpected(channel: string, current: ChannelPointer | undefined, expected: string | null): void {
  if ((current?.digest ?? null) === expected) return;
  const now = current ? `release ${current.version} with the digest ${current.digest}` : 'no release';
  throw new AppError(
    'conflict',
    `expected: the channel ${JSON.stringify(channel)} points to ${now}; look at it, then send its digest${current ? '' : ', which is null'}`,
  );
}
