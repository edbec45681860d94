import { createHash } from 'node:crypto';
import type { Response } from 'express';
import type { Html } from './html.js';
import { style as sharedStyle } from './style.js';

export interface SendPageOptions {
  /** The style sheet that stands in the page. */
  style?: string;
  /** The only script that the page runs; it may ask this origin for pages. None by default. */
  script?: string;
  /** Where the last redirect after the page's forms leads, which browsers check against `form-action` as well. */
  formTarget?: string;
  /** For pages that a client opens in a window of its own and waits for there. */
  keepsOpener?: boolean;
}

/** Sends a page that runs nothing but the named script, loads nothing, cannot be framed and is kept nowhere. */
export function sendPage(res: Response, page: Html, { style = sharedStyle, script, formTarget, keepsOpener = false }: SendPageOptions = {}): void {
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

/** 303, never 307: no form is to be sent on (RFC 9700, 4.12). */
export function seeOther(res: Response, address: string): void {
  res.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' }).status(303).set('Location', address).end();
}

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
