import { z } from 'zod';
import type { SecretBox } from '../../auth/secret-box.js';
import { epochSeconds } from '../../time.js';
import type { CallOutcome } from './exchange.js';

const purpose = 'mcp-request-state';

/** What a held call of the stateless revision needs to be finished; it goes through the client, sealed (AES-256-GCM). */
const RequestState = z.strictObject({
  owner: z.string(),
  tool: z.string(),
  approvalId: z.string(),
  expiresAt: z.number(),
  /** What the client was told, for the case that the person does not want to go on. */
  body: z.record(z.string(), z.unknown()),
});
export type RequestState = z.infer<typeof RequestState>;

export function sealState(box: SecretBox, owner: string, tool: string, { approvalId, expiresAt, body }: Extract<CallOutcome, { kind: 'pending' }>): string {
  return box.seal(JSON.stringify({ owner, tool, approvalId, expiresAt, body } satisfies RequestState), purpose);
}

/** @throws Error for a state that is not ours, another caller's, or late: the client is told no more than that it is not valid */
export function openState(box: SecretBox, sealed: string, owner: string): RequestState {
  const state = RequestState.parse(JSON.parse(box.open(sealed, purpose)));
  if (state.owner !== owner) throw new Error('the request state is another caller’s');
  // Long enough after the last decision to come back with it.
  if (state.expiresAt + 24 * 3600 < epochSeconds()) throw new Error('the request state is too old');
  return state;
}
