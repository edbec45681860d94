import { epochSeconds } from '../../time.js';
import { denyHeldCalls, type EndCallsDeps } from './withdraw.js';

const maxPerSweep = 100;
const leaseSeconds = 60;

/**
 * Ends the calls whose resume token has expired unused: an approval was given, and nobody made the call in time. Any number of
 * processes can sweep: one atomic update takes a token, and another process continues if this one dies.
 */
export async function endExpiredCalls({ collections, audit }: EndCallsDeps, now = epochSeconds()): Promise<void> {
  const { lifecycles, resume_tokens } = collections;
  const expired = await resume_tokens
    .find({ used_at: null, expires_at: { $gt: 0, $lt: now } })
    .limit(maxPerSweep)
    .toArray();
  for (const { _id, approval_id, expires_at, swept_until } of expired) {
    if ((swept_until ?? 0) > now) continue;
    // Not a time that another process could consider to be in the future.
    const taken = { expires_at: 1, swept_until: now + leaseSeconds };
    const { matchedCount } = await resume_tokens.updateOne(
      { _id, used_at: null, expires_at, swept_until: swept_until ?? null },
      { $set: taken },
    );
    if (matchedCount === 0) continue;
    await denyHeldCalls({ lifecycles, audit }, approval_id, 'the approval expired before it was used');
    await resume_tokens.updateOne({ _id }, { $set: { expires_at: 0 } });
  }
}
