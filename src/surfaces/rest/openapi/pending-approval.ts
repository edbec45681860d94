import { z } from 'zod';
import { Id } from '../../../base/ids.js';
import { Expiry } from '../../../base/time.js';

/** The response to a call that a policy holds. */
export const pendingApproval = {
  description: 'A policy requires an approval. Once it is approved, repeat the call with its resume token.',
  schema: z
    .object({ lifecycle_id: Id, status: z.literal('pending_approval'), approval_id: Id, expires_at: Expiry })
    .meta({ id: 'PendingApproval' }),
};
