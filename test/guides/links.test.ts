import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';
import { verifies } from '../support/verifies.js';

const withoutCode = (text: string) => text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, 'code');

/** The anchors of the headings, as GitHub forms them. */
function anchorsOf(text: string): Set<string> {
  const headings = text.replace(/```[\s\S]*?```/g, '').matchAll(/^#{1,6} (.+)$/gm);
  return new Set([...headings].map(([, title = '']) => anchorOf(title)));
}

function anchorOf(title: string): string {
  return title
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function problemsOf(file: string): string[] {
  const text = readFileSync(path.join(packageRoot, file), 'utf8');
  const targets = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .flatMap((target) => {
      const [name = '', anchor] = target.split('#');
      const at = name === '' ? file : path.join(path.dirname(file), name);
      if (!existsSync(path.join(packageRoot, at))) return [`${file}: ${target} does not exist`];
      if (anchor === undefined || !at.endsWith('.md')) return [];
      const headings = anchorsOf(readFileSync(path.join(packageRoot, at), 'utf8'));
      return headings.has(anchor) ? [] : [`${file}: ${target} names no heading`];
    });
}

test('each relative link in the documentation names an existing file and heading', () => {
  verifies('docs.links');
  const documents = ['docs', 'docs/decisions', 'docs/guides', 'bench'].flatMap((folder) =>
    readdirSync(path.join(packageRoot, folder)).map((name) => `${folder}/${name}`),
  );
  const files = ['README.md', 'CHANGELOG.md', ...documents].filter((name) => name.endsWith('.md'));
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap(problemsOf)).toEqual([]);
});
