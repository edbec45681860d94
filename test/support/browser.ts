import path from 'node:path';
import { afterAll, expect } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { packageRoot } from '../../src/base/packages.js';
import { launchChromium } from './launch-chromium.js';

/** One browser for each test file. It starts with the first page. */
let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

/**
 * A page with cookies and storage of its own, as in a separate browser. Console errors, dialogs and requests to other
 * origins than `origins` fail the test, unless the work removes them from the list.
 */
export async function withBrowser<T>(
  origins: readonly string[],
  options: BrowserContextOptions,
  work: (page: Page, complaints: string[]) => Promise<T>,
): Promise<T> {
  browser ??= launchChromium();
  const context = await (await browser).newContext(options);
  // A busy machine needs longer than the default of 30 s.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on(
    'console',
    (message) =>
      void (message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`.trim())),
  );
  page.on('dialog', (dialog) => void (complaints.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on(
    'request',
    (request) =>
      void (origins.some((origin) => request.url().startsWith(origin)) || complaints.push(`loads ${request.url()}`)),
  );
  try {
    const value = await work(page, complaints);
    expect(complaints.filter((text) => !/favicon|status of 4/.test(text))).toEqual([]);
    return value;
  } finally {
    await context.close();
  }
}

/** Waits for the element with this name and presses Tab until it has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  await page.getByText(name).or(page.getByLabel(name)).first().waitFor({ state: 'attached' });
  const passed: string[] = [];
  for (let stop = 0; stop < 60; stop += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const element = (globalThis as any).document.activeElement;
      return (element.labels?.[0]?.textContent ?? element.textContent ?? '').trim() as string;
    });
    if (focused === name) return;
    passed.push(focused);
  }
  throw new Error(`Tab never reached ${name}, only ${passed.join(' | ')}`);
}

/** Runs in the page: the lowest WCAG 2 contrast ratio between a text and its background. */
export function lowestContrast(): number {
  const { document, getComputedStyle } = globalThis as any;
  const luminance = ([r = 0, g = 0, b = 0]: number[]) => {
    const [lr = 0, lg = 0, lb = 0] = [r, g, b].map((value) =>
      value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * lr + 0.7152 * lg + 0.0722 * lb;
  };
  const numbers = (text: string) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const behind = (element: any): number[] => {
    for (let at = element; at; at = at.parentElement) {
      const color = numbers(getComputedStyle(at).backgroundColor);
      if (color[3] !== 0) return color;
    }
    return [255, 255, 255];
  };
  const ratios = [
    ...document.querySelectorAll(
      'h1, h2, h3, p, a, label, button, strong, li, span, dt, dd, code, select, summary, time',
    ),
  ].map((element: any) => {
    const [one = 0, two = 0] = [luminance(numbers(getComputedStyle(element).color)), luminance(behind(element))].sort(
      (a, b) => b - a,
    );
    return (one + 0.05) / (two + 0.05);
  });
  return Math.min(...ratios);
}

/** With `SCREENSHOTS=1`, stores a picture in `test-screenshots` for the review of a changed page. */
export async function shot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  await page.screenshot({ path: path.join(packageRoot, 'test-screenshots', `${name}.png`), fullPage: true });
}
