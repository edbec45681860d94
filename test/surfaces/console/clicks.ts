import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { packageRoot } from '../../../src/base/packages.js';

/**
 * Counts what a person does besides typing: each click, each choice in a select, and each Enter.
 * @returns the count until now
 */
export async function countClicks(page: Page): Promise<() => number> {
  let count = 0;
  await page.context().exposeBinding('countClick', () => void (count += 1));
  const listen = () => {
    const { addEventListener, countClick } = globalThis as any;
    addEventListener('pointerdown', () => countClick(), true);
    addEventListener('change', ({ target }: any) => target.localName === 'select' && countClick(), true);
    addEventListener('keydown', ({ key }: any) => key === 'Enter' && countClick(), true);
  };
  await page.context().addInitScript(listen);
  await page.reload();
  return () => count;
}

/** The table of docs/guides/console.md: the most clicks that each task needs. */
export function clicksInGuide(): ReadonlyMap<string, number> {
  const guide = readFileSync(path.join(packageRoot, 'docs/guides/console.md'), 'utf8');
  const [, table = ''] = guide.split('## Tasks and their clicks');
  const rows = table.split('\n## ')[0]?.matchAll(/^\| ([^|]+?) \| [^|]+ \| (\d+) \|$/gm) ?? [];
  return new Map([...rows].map(([, task = '', clicks]) => [task, Number(clicks)]));
}
