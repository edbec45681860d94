import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import express, { type RequestHandler, type Response } from 'express';
import { packageRoot } from '../../base/packages.js';
import { consolePages } from './console-pages.js';

/** The addresses of the app as routes of Express, relative to the URL of a project. */
export const appPaths = consolePages.map(({ path: address }) => address.replaceAll(/\$\w+/g, ':id'));

/** The folder to which the build writes the app (console/). */
const folder = path.join(packageRoot, 'dist/console');
const index = path.join(folder, 'index.html');
const page = existsSync(index) ? readFileSync(index, 'utf8') : undefined;

/** The app loads only files of this service. Its pages contain no inline scripts or styles. */
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

/** Each file name contains a hash of the content, so browsers can cache the file forever. */
export const appFiles: RequestHandler = express.static(path.join(folder, 'assets'), {
  index: false,
  immutable: true,
  maxAge: '1y',
});

/**
 * Sends the app, which renders the page of the requested URL. The HTML names its files relative to that URL, so the app
 * works below any path.
 * @param pathInConsole the path after `/console`
 */
export function sendApp(res: Response, pathInConsole: string): void {
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
  const pathToConsole = '../'.repeat(pathInConsole.split('/').length - 2);
  res.type('html').send(page.replaceAll('="./', `="${pathToConsole}`));
}
