import { gunzipSync } from 'node:zlib';
import { AppError } from '../../base/errors.js';
import type { RawBody } from './callback-body.js';

/**
 * Returns whether a sender compressed the body with gzip (RFC 1952, 2.3.1). The bytes decide, because only `Content-Type`
 * is forwarded. A file in this format is not decoded.
 */
export function isCompressed({ body, contentType }: Pick<RawBody, 'body' | 'contentType'>): boolean {
  const isFile = /^application\/(?:(?:x-)?gzip|octet-stream)\b/i.test(contentType ?? '');
  return !isFile && body[0] === 0x1f && body[1] === 0x8b && body[2] === 0x08;
}

/**
 * Decodes a compressed body. Returns bytes that only look compressed unchanged. Use it in a thread: a kilobyte may contain
 * a megabyte.
 * @throws AppError `payload_too_large` if the decoded body exceeds the limit
 */
export function decodedBody(raw: RawBody): Uint8Array {
  if (!isCompressed(raw)) return raw.body;
  try {
    return gunzipSync(raw.body, { maxOutputLength: raw.maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return raw.body;
    throw new AppError('payload_too_large', `the decoded body is larger than ${raw.maxBytes} bytes`);
  }
}
