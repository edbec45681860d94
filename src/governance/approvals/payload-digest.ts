import { canonicalText } from '../../base/json.js';
import { sha256Hex } from '../../base/hash.js';

/**
 * SHA-256 (hex) of the canonical JSON (RFC 8785) of `{tool, input}`. The input includes default values. `bound` is
 * added if the operation acts on state that its input does not contain. An approval and its resume token are bound to
 * this digest.
 */
export function payloadDigest(tool: string, input: unknown, bound?: unknown): string {
  const payload = { tool, input: input ?? null, ...(bound !== undefined && { bound }) };
  return sha256Hex(canonicalText(payload));
}
