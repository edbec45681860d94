import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import express, { type RequestHandler, type Response } from 'express';
import { packageRoot } from '../../package-root.js';

/** The pages of a project that the app shows, after the address of the project. */
export const appPaths = [
  '/',
  '/runs',
  '/runs/:id',
  '/inbox',
  '/schedules',
  '/schedules/:id',
  '/schedules/:id/edit',
  '/agentflows',
  '/agentflows/:id',
  '/approvals',
  '/approvals/:id',
  '/lifecycles',
  '/lifecycles/:id',
  '/audit',
  '/context',
  '/policies',
  '/apps',
  '/members',
  '/keys',
  '/settings',
  '/usage',
  ...['/connectors', '/connectors/:id', '/tables', '/tables/:id', '/files', '/syncs'],
];

/** The folder to which the build writes the app (src/surfaces/console/app). */
const folder = path.join(packageRoot, 'dist/console');
const index = path.join(folder, 'index.html');
const page = existsSync(index) ? readFileSync(index, 'utf8') : undefined;

/** The app loads only files of this service, and its scripts and styles are never part of a page. */
const policy = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `form-action 'self'`,
  `base-uri 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

/** The name of a file contains a hash of its content. */
export const appFiles: RequestHandler = express.static(path.join(folder, 'assets'), {
  index: false,
  immutable: true,
  maxAge: '1y',
});

/**
 * Sends the app, which then shows the page of its address. Its files are named relative to the address, so that the app
 * works below any path. `here` is the part of the address after the console's own.
 */
export function sendApp(res: Response, here: string): void {
  if (page === undefined) throw new Error(`${index} is missing: run the build`);
  res.set({
    'Content-Security-Policy': policy,
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-cache',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Cross-Origin-Opener-Policy': 'same-origin',
  });
  const up = '../'.repeat(here.split('/').length - 2);
  res.type('html').send(page.replaceAll('="./', `="${up}`));
}
