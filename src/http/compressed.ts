import compression from 'compression';
import type { RequestHandler } from 'express';

/**
 * Compresses answers of more than 1 KiB for clients that accept it (RFC 9110, 12.5.3), except for those that must not change:
 * event streams, which are sent piece by piece; parts of files; and representations with a strong entity tag (8.8.1).
 * Answers that nobody may store can contain secrets, whose length would show in the compressed size (https://www.breachattack.com).
 */
export const compressed: RequestHandler = compression({
  filter(req, res) {
    const type = String(res.getHeader('Content-Type') ?? '');
    const cache = String(res.getHeader('Cache-Control') ?? '');
    const hasStrongTag = String(res.getHeader('ETag') ?? '').startsWith('"');
    if (type.startsWith('text/event-stream') || cache.includes('no-store')) return false;
    if (hasStrongTag || res.hasHeader('Content-Range')) return false;
    return compression.filter(req, res);
  },
});
