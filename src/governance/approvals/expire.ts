import type { Logger } from '../../log.js';
import { epochSeconds } from '../../base/time.js';
import { forEachDue } from '../for-each-due.js';
import { denyHeldCalls, type EndCallsDeps } from './withdraw.js';

/** Ends the calls whose resume token has expired unused: an approval was given, and nobody made the call in time. */
export async function endExpiredCalls(
  { collections, audit, log }: EndCallsDeps & { log: Pick<Logger, 'warn'> },
  now = epochSeconds(),
): Promise<void> {
  const { lifecycles, resume_tokens } = collections;
  const due = { used_at: null, expires_at: { $gt: 0, $lt: now }, swept_until: { $not: { $gt: now } } };
  // The expiry is not a time that another process could consider to be in the future.
  const lease = { at: 'swept_until', set: { expires_at: 1 }, log, now };
  await forEachDue({ collection: resume_tokens, due, ...lease }, async ({ _id, approval_id }) => {
    await denyHeldCalls({ lifecycles, audit }, approval_id, 'the approval expired before it was used');
    await resume_tokens.updateOne({ _id }, { $set: { expires_at: 0 } });
  });
}
