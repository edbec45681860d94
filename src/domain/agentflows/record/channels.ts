import { z } from 'zod';
import { Digest } from '../../../base/hash.js';
import { exampleId, Id, UserId } from '../../../base/ids.js';
import { EpochSeconds } from '../../../base/time.js';

export const production = 'production';
/** The most channels of an agentflow. */
export const maxChannels = 20;

export const ChannelName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be 1 to 40 lowercase letters, digits or "-", beginning with a letter')
  .refine((name) => name !== 'draft', 'must not be "draft", which names the saved agentflow')
  .meta({ example: production });

const Version = z.int().min(1).meta({ example: 3 });

export const Slots = z
  .record(z.string().min(1).max(100), z.string().min(1).max(100))
  .refine((slots) => Object.keys(slots).length <= 200, 'must name at most 200 slots')
  .describe(
    'The connector of each slot, by its id. A slot that is not named has the connector with which the release was published.',
  )
  .meta({ example: { mail: exampleId } });

export const Percent = z.int().min(1).max(99).describe('The share of the runs, chosen by the hash of their id.');

const Split = z
  .object({ version: Version, digest: Digest, percent: Percent })
  .nullable()
  .describe('The part of the runs that take another release. Null if there is none.')
  .meta({ example: null });

/** To which release of an agentflow a channel points. */
export const Promotion = z
  .object({
    agentflow_id: Id,
    channel: ChannelName,
    version: Version,
    digest: Digest.describe('The digest of the release.'),
    slots: Slots,
    split: Split,
    difference_digest: Digest.describe(
      'The `digest` of the difference from the release to which the channel pointed before. With a split, SHA-256 of both digests with a space between them.',
    ),
    promoted_at: EpochSeconds,
    promoted_by: UserId,
    note: z
      .string()
      .describe('Why the channel points to this release, for people.')
      .meta({ example: 'Claims of 2027' }),
    approval_id: Id.nullable()
      .describe('The approval that permitted it. Null if none was needed.')
      .meta({ example: null }),
    lifecycle_id: Id.nullable().describe('The record of the call. Null if the upgrade to releases did it.'),
  })
  .meta({ id: 'Promotion' });
export type Promotion = z.infer<typeof Promotion>;

/**
 * A channel as its agentflow stores it. `moves` counts its changes, for optimistic locking; `request` is the record id of
 * the call that made the last one.
 */
export type ChannelPointer = Omit<Promotion, 'agentflow_id' | 'channel' | keyof LaterFields> &
  Partial<LaterFields> & { moves: number; request: string };
/** What pointers of earlier releases of the product lack. */
type LaterFields = Pick<Promotion, 'note' | 'approval_id' | 'lifecycle_id'>;

/** The own value of a record whose keys people choose, so that `constructor` names nothing. */
export function ownValue<T>(values: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
}
