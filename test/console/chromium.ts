import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from '@jest/globals';
import { chromium, type Page } from 'playwright-core';
import type { Person } from '../auth/auth-server.js';
import { testRun } from '../support/run.js';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const folder = mkdtempSync(path.join(tmpdir(), 'console-'));

export interface PageOptions {
  width?: number;
  dark?: boolean;
  /** Without the script that looks for news. */
  withoutScript?: boolean;
  /** Another site that the page may come from. */
  from?: string;
}

/** A browser of its own with one page; what its console complains about, and whatever it loads from elsewhere, fails. */
export async function withPage<T>(work: (page: Page) => Promise<T>, { width = 1280, dark = false, withoutScript = false, from }: PageOptions = {}): Promise<T> {
  if (!existsSync(executablePath)) throw new Error(`no browser at ${executablePath}: apt-get install chromium, or set CHROMIUM_PATH`);
  const context = await chromium.launchPersistentContext(mkdtempSync(path.join(tmpdir(), 'chromium-')), {
    executablePath,
    headless: true,
    args: flags,
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
    javaScriptEnabled: !withoutScript,
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const complaints: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('dialog', (dialog) => void (complaints.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on('request', (request) => void (request.url().startsWith(testRun().url) || (from !== undefined && request.url().startsWith(from)) || complaints.push(`loads ${request.url()}`)));
  try {
    const value = await work(page);
    expect(complaints.filter((text) => !/favicon|status of 4/.test(text))).toEqual([]);
    return value;
  } finally {
    await context.close();
  }
}

export async function shot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}

export function screenshots(): string {
  return folder;
}

export const consoleUrl = (of: string | Person, rest = ''): string =>
  typeof of === 'string' ? `${testRun().url}/console${of}` : `${testRun().url}/console/projects/${of.workspace.projectID}${rest}`;

export async function signIn(page: Page, person: Person, address = consoleUrl(person)): Promise<void> {
  await page.goto(address);
  await page.getByLabel('Email address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(address);
}

/** Presses Tab until what has the focus bears this name. */
export async function tabTo(page: Page, name: string): Promise<void> {
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

/** Controls that a screen reader would have no name for, by the tree that the browser makes for it. */
export async function namelessControls(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const controls = new Set(['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'meter', 'DisclosureTriangle', 'navigation', 'region', 'search']);
  return nodes.flatMap(({ ignored, role, name }) => (!ignored && controls.has(String(role?.value)) && !name?.value ? [String(role?.value)] : []));
}

/** Runs in the page: the lowest ratio of WCAG 2 between a text and what is behind it. */
export function lowestContrast(): number {
  const { document, getComputedStyle } = globalThis as any;
  const luminance = ([r = 0, g = 0, b = 0]: number[]) => {
    const [lr = 0, lg = 0, lb = 0] = [r, g, b].map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
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
  const ratios = [...document.querySelectorAll('h1, h2, h3, p, a, label, button, strong, li, span, dt, dd, code, select, summary, time')].map((element: any) => {
    const [one = 0, two = 0] = [luminance(numbers(getComputedStyle(element).color)), luminance(behind(element))].sort((a, b) => b - a);
    return (one + 0.05) / (two + 0.05);
  });
  return Math.min(...ratios);
}
