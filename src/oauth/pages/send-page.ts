import { createHash } from 'node:crypto';
import type { Response } from 'express';
import type { Html } from './html.js';
import { style } from './style.js';

const styleSource = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/**
 * Sends a page that runs no script, loads nothing, cannot be framed and is kept nowhere. `formTarget` is where the last
 * redirect after its forms leads, which browsers check against `form-action` as well.
 */
export function sendPage(res: Response, page: Html, formTarget?: string): void {
  const policy = [
    `default-src 'none'`,
    `style-src ${styleSource}`,
    `form-action 'self'${formTarget === undefined ? '' : ` ${formTarget}`}`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ];
  res.set({
    'Content-Security-Policy': policy.join('; '),
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    // Clients that run in a browser open this page in a window of theirs and wait for it there.
    'Cross-Origin-Opener-Policy': 'unsafe-none',
  });
  res.type('html').send(page.markup);
}
