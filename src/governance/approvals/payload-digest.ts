import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** SHA-256 (hex) of tool and input in canonical JSON (RFC 8785): what an approval and its resume token are bound to. */
export function payloadDigest(tool: string, input: unknown): string {
  return createHash('sha256').update(canonicalize({ tool, input: input ?? null }) ?? '').digest('hex');
}
