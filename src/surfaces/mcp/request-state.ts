import { z } from 'zod';
import type { SecretBox } from '../../auth/secret-box.js';
import { epochSeconds } from '../../base/time.js';
import type { PendingOutcome } from './exchange.js';

const purpose = 'mcp-request-state';

/** The data that finishes a held call in the stateless revision. The client carries it, encrypted with AES-256-GCM. */
const RequestState = z.strictObject({
  owner: z.string(),
  tool: z.string(),
  approvalId: z.string(),
  approvalUrl: z.string(),
  expiresAt: z.number(),
  /** The pending result, which is returned if the person declines. */
  body: z.record(z.string(), z.unknown()),
  /** How many times the person has been asked. */
  asked: z.int(),
});
export type RequestState = z.infer<typeof RequestState>;

export function sealState(
  box: SecretBox,
  held: PendingOutcome,
  of: Pick<RequestState, 'owner' | 'tool' | 'asked'>,
): string {
  const { approvalId, approvalUrl, expiresAt, body } = held;
  return box.seal(JSON.stringify({ ...of, approvalId, approvalUrl, expiresAt, body } satisfies RequestState), purpose);
}

/**
 * Opens the state.
 * @throws Error for a state that is forged, expired or from another caller; the client only learns that the state is
 * invalid
 */
export function openState(box: SecretBox, sealed: string, owner: string): RequestState {
  const state = RequestState.parse(JSON.parse(box.open(sealed, purpose)));
  if (state.owner !== owner) throw new Error('the request state is another caller’s');
  // The client may return up to a day after the last possible decision.
  if (state.expiresAt + 24 * 3600 < epochSeconds()) throw new Error('the request state is too old');
  return state;
}
