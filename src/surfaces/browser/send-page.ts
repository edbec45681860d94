import { createHash } from 'node:crypto';
import type { Response } from 'express';
import type { Html } from './html.js';
import { style as sharedStyle } from './style.js';

interface SendPageOptions {
  /** The style sheet that the page embeds. */
  style?: string;
  /** The only script that the page may run. It may fetch pages of this origin. By default, no script runs. */
  script?: string;
  /** The last redirect target after a form submission. Browsers also check it against `form-action`. */
  formTarget?: string;
  /** Keeps `window.opener`, for a page that a client opens in a window and waits for. */
  keepsOpener?: boolean;
}

/** Sends a page that runs only the given script, loads no other resources and can be neither framed nor cached. */
export function sendPage(
  res: Response,
  page: Html,
  { style = sharedStyle, script, formTarget, keepsOpener = false }: SendPageOptions = {},
): void {
  const policy = [
    `default-src 'none'`,
    `style-src ${sourceOf(style)}`,
    ...(script === undefined ? [] : [`script-src ${sourceOf(script)}`, `connect-src 'self'`]),
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
    'Cross-Origin-Opener-Policy': keepsOpener ? 'unsafe-none' : 'same-origin',
  });
  res.type('html').send(page.markup);
}

/** Uses 303, never 307, so that browsers do not resend the form (RFC 9700, 4.12). */
export function seeOther(res: Response, address: string): void {
  res.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' }).status(303).set('Location', address).end();
}

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
