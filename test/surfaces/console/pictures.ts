import { mkdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import pixelmatch from 'pixelmatch';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { packageRoot } from '../../../src/base/packages.js';

const stored = path.join(packageRoot, 'test/surfaces/console/pictures');
const written = path.join(packageRoot, 'test-screenshots');

/** A picture has a third of the size of the page, so that small differences between drawing libraries disappear. */
const reduction = 3;
/** The share of the pixels of a reduced picture that may differ, for example where two machines smooth text differently. */
const maxDifference = 0.015;

const font = readFileSync(
  createRequire(import.meta.url).resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'),
);

/** The same font on every machine, nothing that moves, and no durations. */
const stillStyle = `
  @font-face { font-family: Still; src: url(data:font/woff2;base64,${font.toString('base64')}); font-weight: 100 900 }
  *, *::before, *::after {
    font-family: Still !important;
    animation: none !important;
    transition: none !important;
    caret-color: transparent !important;
  }
  .waterfall-bar { left: 0 !important; width: 100% !important }`;

/**
 * In the page: replaces what differs between two runs by fixed text, which takes the same place each time. It is short, so
 * that it wraps in no browser.
 */
function freezeTexts(): void {
  const { document, NodeFilter } = globalThis as any;
  const fixed: [RegExp, string][] = [
    [/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, '00000000'],
    [/\b[\da-f]{40,64}\b/g, '00000000'],
    [/\b\d{1,2}\/\d{1,2}\/\d{4}\b/g, '1/1/2026'],
    [/\b\d{1,2}:\d\d(:\d\d)?( [AP]M)?/g, '9:00:00 AM'],
    [/\b(just now|in a moment|\d+ (min|h) ago|in \d+ (min|h))\b/g, '9:00:00 AM'],
    [/\b[A-Z][a-z]{2}, [A-Z][a-z]{2} \d{1,2}\b/g, 'Thu, Jan 1'],
    [/\b[\d.]+ (ms|s|min)\b/g, '1 s'],
  ];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const next = fixed.reduce((value: string, [pattern, by]) => value.replaceAll(pattern, by), text.data as string);
    if (next !== text.data) text.data = next;
  }
}

/** Takes the picture of what the window shows. */
export async function pictureOf(page: Page): Promise<PNG> {
  await page.addStyleTag({ content: stillStyle });
  await page.evaluate(() => (globalThis as any).document.fonts.load('1rem Still'));
  await page.evaluate(freezeTexts);
  return reduced(PNG.sync.read(await page.screenshot({ animations: 'disabled' })));
}

/** Averages squares of pixels. */
function reduced(picture: PNG): PNG {
  const [width, height] = [picture.width, picture.height].map((size) => Math.floor(size / reduction));
  const small = new PNG({ width: width ?? 0, height: height ?? 0 });
  for (let y = 0; y < small.height; y += 1)
    for (let x = 0; x < small.width; x += 1)
      for (let channel = 0; channel < 4; channel += 1) {
        let sum = 0;
        for (let dy = 0; dy < reduction; dy += 1)
          for (let dx = 0; dx < reduction; dx += 1)
            sum += picture.data[((y * reduction + dy) * picture.width + x * reduction + dx) * 4 + channel] ?? 0;
        small.data[(y * small.width + x) * 4 + channel] = Math.round(sum / reduction ** 2);
      }
  return small;
}

/** The share of the pixels that differ, and a picture of them. Pictures of different sizes differ completely. */
function compare(actual: PNG, expected: PNG): { share: number; difference: PNG } {
  const { width, height } = actual;
  const difference = new PNG({ width, height });
  if (width !== expected.width || height !== expected.height) return { share: 1, difference };
  const count = pixelmatch(actual.data, expected.data, difference.data, width, height, { threshold: 0.15 });
  return { share: count / (width * height), difference };
}

const fileOf = (name: string) => path.join(stored, `${name}.png`);

/** With `ACCEPT_PICTURES=1`, the picture becomes the stored one. */
export function acceptIfAsked(name: string, actual: PNG): void {
  if (process.env.ACCEPT_PICTURES === undefined) return;
  mkdirSync(stored, { recursive: true });
  writeFileSync(fileOf(name), PNG.sync.write(actual));
}

/**
 * Compares a picture with the stored one.
 * @returns what differs, undefined if nothing does
 */
export function differenceFrom(name: string, actual: PNG): string | undefined {
  const file = fileOf(name);
  if (!existsSync(file)) return `${name}: there is no stored picture; ACCEPT_PICTURES=1 stores it`;
  const { share, difference } = compare(actual, PNG.sync.read(readFileSync(file)));
  if (share <= maxDifference) return undefined;
  mkdirSync(written, { recursive: true });
  writeFileSync(path.join(written, `${name}.actual.png`), PNG.sync.write(actual));
  writeFileSync(path.join(written, `${name}.difference.png`), PNG.sync.write(difference));
  return (
    `${name}: ${(share * 100).toFixed(1)} % of the picture differ from test/surfaces/console/pictures/${name}.png. ` +
    `See test-screenshots/${name}.actual.png and ${name}.difference.png. ACCEPT_PICTURES=1 accepts a wanted change`
  );
}
