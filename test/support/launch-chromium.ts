import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium, type Browser } from 'playwright-core';

/**
 * The system's browser, or the one from npm. The headless shell comes first: the whole browser draws its own window for
 * each page, which takes most of its processor time.
 */
async function findBrowser(): Promise<{ executablePath: string; args: string[] }> {
  const installed = [
    process.env.CHROMIUM_PATH,
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ].find((file) => file !== undefined && existsSync(file));
  if (installed !== undefined) return { executablePath: installed, args: flags };
  const { default: packaged } = await import('@sparticuz/chromium');
  // With this flag, the browser would end when its first context is closed.
  const args = packaged.args.filter((flag) => flag !== '--single-process');
  return { executablePath: await packaged.executablePath(), args: [...args, ...flags] };
}

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Another worker of the test run may still be unpacking the browser from npm. */
async function launched<T>(launch: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await launch();
    } catch (error) {
      if (!String(error).includes('ETXTBSY')) throw error;
      await delay(200);
    }
  }
}

export async function launchChromium(): Promise<Browser> {
  const { executablePath, args } = await findBrowser();
  return launched(() => chromium.launch({ executablePath, headless: true, args }));
}
