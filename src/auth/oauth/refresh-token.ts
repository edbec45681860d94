import { createHmac } from 'node:crypto';

const prefix = 'svc_ort_';
const wellFormed = /^svc_ort_[A-Za-z0-9_-]{70}$/;
const [idBytes, generationBytes, macBytes] = [16, 4, 32];

export interface RefreshTokenParts {
  grantId: string;
  /** 0 for the first token of a grant. Each rotation adds 1. */
  generation: number;
}

/**
 * Returns `svc_ort_` followed by the base64url of the grant's id, the generation and their HMAC under the grant's key.
 * Only the holder of the key can create a token, so tokens are not stored, not even as hashes, and retries of a
 * rotation return the same child.
 */
export function writeRefreshToken({ grantId, generation }: RefreshTokenParts, key: string): string {
  const head = Buffer.alloc(idBytes + generationBytes);
  head.write(grantId.replaceAll('-', ''), 'hex');
  head.writeUInt32BE(generation, idBytes);
  return prefix + Buffer.concat([head, createHmac('sha256', key).update(head).digest()]).toString('base64url');
}

/** Reads the parts of a token without authenticating it, which requires the key of the grant. */
export function readRefreshToken(token: string): RefreshTokenParts | undefined {
  if (!wellFormed.test(token)) return undefined;
  const bytes = Buffer.from(token.slice(prefix.length), 'base64url');
  if (bytes.length !== idBytes + generationBytes + macBytes) return undefined;
  const hex = bytes.toString('hex', 0, idBytes);
  const grantId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { grantId, generation: bytes.readUInt32BE(idBytes) };
}

export function looksLikeRefreshToken(token: string): boolean {
  return token.startsWith(prefix);
}
