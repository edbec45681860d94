import { describe, expect, test } from '@jest/globals';
import { chunkSize, chunksOf, overlapSize } from '../../../../src/domain/knowledge/chunks.js';
import { extract } from '../../../../src/domain/knowledge/extract.js';
import { extractionLimits } from '../../../../src/domain/knowledge/limits.js';
import { verifies } from '../../../support/verifies.js';
import { longText, pdfOf } from './documents.js';

const section = (text: string) => ({ heading: null, page: null, text, overlap: true });
const bytes = (text: string) => new TextEncoder().encode(text);

describe('chunksOf', () => {
  test('splits at paragraphs, repeats the end of each chunk in the next one, and is deterministic', () => {
    const text = longText(20, (at) => `word${at}`);
    const chunks = chunksOf([section(text)]);
    expect(chunks.length).toBeGreaterThan(10);
    for (const [at, { text: each }] of chunks.entries()) {
      expect(each.length).toBeLessThanOrEqual(chunkSize + overlapSize + 2);
      if (at > 0) expect(chunks[at - 1]?.text.endsWith(each.split('\n\n')[0] ?? '?')).toBe(true);
    }
    for (let at = 0; at < 20; at += 1) expect(chunks.some((chunk) => chunk.text.includes(`word${at}.`))).toBe(true);
    expect(chunksOf([section(text)])).toEqual(chunks);
  });

  test.each([
    ['x', 'a word without an end'],
    ['😀', 'characters of two halves'],
    ['a ', 'words without sentences'],
  ])('limits %s repeated: %s', (unit) => {
    const chunks = chunksOf([section(unit.repeat(5000))]);
    expect(Math.max(...chunks.map(({ text }) => text.length))).toBeLessThanOrEqual(chunkSize + overlapSize + 2);
    expect(chunks.every(({ text }) => !/\p{Surrogate}/u.test(text))).toBe(true);
  });

  test('ends chunks of Chinese and Japanese at the end of a sentence', () => {
    const chunks = chunksOf([section('これは文です。'.repeat(500))]);
    expect(chunks.length).toBeGreaterThan(3);
    for (const { text } of chunks) expect(text.endsWith('。')).toBe(true);
  });

  test('returns no chunks for an empty text', () => expect(chunksOf([section(' \n\n \n')])).toEqual([]));
});

describe('extract', () => {
  test('reads Markdown by headings, and ignores headings in code', async () => {
    const chunks = await extract(
      bytes('before\n\n# One\n\ntext\n\n## Two\n\n```\n# no heading\n```\n\n# Three\nend'),
      'text/markdown',
    );
    expect(chunks.map(({ heading }) => heading)).toEqual([null, 'One', 'One › Two', 'Three']);
    expect(chunks[2]?.text).toContain('# no heading');
  });

  test('reads a heading without closing marks in time proportional to its length', async () => {
    const titles = async (text: string) => (await extract(bytes(text), 'text/markdown')).map(({ heading }) => heading);
    expect(await titles('# One ##  \na\n## Two#\nb\n# \nc')).toEqual(['One', 'One › Two', null]);
    const begun = process.cpuUsage();
    await extract(bytes(`# a${' '.repeat(50_000)}${'#'.repeat(50_000)} b`), 'text/markdown');
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(5000);
  });

  test('reads the visible text of HTML and not its scripts', async () => {
    const html =
      '<!doctype html><head><title>t</title><style>.a{}</style></head><body><script>alert("evil")</script><h1>Title</h1><p>Some <b>bold</b> <a href="http://x">link</a></p><h2>Below</h2><ul><li>item</li></ul>';
    const chunks = await extract(bytes(html), 'text/html');
    expect(chunks.map(({ heading, text }) => [heading, text])).toEqual([
      ['Title', 'Title\n\nSome bold link'],
      ['Title › Below', expect.stringMatching(/^Below\s+\* item$/)],
    ]);
  });

  test('reads CSV by column, including quotes', async () => {
    const [chunk] = await extract(bytes('\uFEFFname;city\n"Ada; L.";Oslo\nBob;\n'), 'text/csv');
    expect(chunk?.text).toBe('name: Ada; L.\ncity: Oslo\n\nname: Bob');
  });

  test('reads PDF page by page', async () => {
    const chunks = await extract(new Uint8Array(pdfOf(['Hello first', 'And the second'])), 'application/pdf');
    expect(chunks).toEqual([
      { heading: null, page: 1, text: 'Hello first' },
      { heading: null, page: 2, text: 'And the second' },
    ]);
  });

  test.each([
    ['a PDF that is damaged', 'application/pdf', Buffer.from('%PDF-1.7\nnonsense'), /PDF cannot be read/],
    [
      'a PDF of too many pages',
      'application/pdf',
      pdfOf(Array.from({ length: extractionLimits.pages + 1 }, () => 'x')),
      /more than 2000 pages/,
    ],
    ['a PDF without text', 'application/pdf', pdfOf(['']), /no text/],
    ['CSV whose quote never ends', 'text/csv', Buffer.from('a,b\n"never'), /CSV cannot be read/],
    ['bytes that are not text', 'text/plain', Buffer.from([0xff, 0xfe, 0x41]), /not text in UTF-8/],
    ['text that is too long', 'text/plain', Buffer.alloc(extractionLimits.characters + 1, 'a'), /longer than/],
    ['too many sections', 'text/markdown', Buffer.from('# a\n'.repeat(100_001)), /more than 100000 sections/],
    ['empty text', 'text/markdown', Buffer.from(' \n\n'), /no text/],
    ['a picture', 'image/png', Buffer.from('x'), /cannot be read/],
  ])('reports what is wrong with %s', async (_, type, content, message) => {
    await expect(extract(new Uint8Array(content), type)).rejects.toThrow(message);
  });

  test.each([
    ['closed elements', `${'<div>'.repeat(20_000)}deep${'</div>'.repeat(20_000)}`],
    ['elements that are never closed', '<b>'.repeat(133_000)],
    ['elements with attributes', '<a href="x"><b>'.repeat(60_000)],
  ])('refuses deeply nested HTML: %s', async (_name, html) => {
    verifies('knowledge.nested-html');
    await expect(extract(bytes(html), 'text/html')).rejects.toThrow('the HTML nests more than 1000 elements');
  });

  test('reads a long flat document of short elements', async () => {
    verifies('knowledge.nested-html');
    const chunks = await extract(
      bytes('<p>one<br><img src="x"><p>two<ul><li>three<li>four</ul>'.repeat(2000)),
      'text/html',
    );
    expect(chunks.length).toBeGreaterThan(0);
  });
});
