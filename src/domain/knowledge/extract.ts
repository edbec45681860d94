import { parse } from 'csv-parse/sync';
import { convert, type FormatCallback } from 'html-to-text';
import { Parser } from 'htmlparser2';
import { decodeText } from '../../decode-text.js';
import { chunksOf, type Chunk, type Section } from './chunks.js';

/** Describes to the owner of a document why it cannot be read. */
export class UnreadableDocument extends Error {
  override readonly name = 'UnreadableDocument';
}

/** A document that exceeds these limits is refused. */
export const extractionLimits = {
  characters: 20_000_000,
  chunks: 100_000,
  pages: 2000,
  htmlDepth: 500,
  openElements: 1000,
};

type Reader = (bytes: Uint8Array) => Section[] | Promise<Section[]>;

/** The document types of a knowledge base (contract, knowledge base) and their readers. */
const readers: Record<string, Reader> = {
  'text/plain': (bytes) => [{ heading: null, page: null, text: textOf(bytes), overlap: true }],
  'text/markdown': (bytes) => byHeadings(textOf(bytes)),
  'text/html': (bytes) => byHeadings(fromHtml(textOf(bytes))),
  'text/csv': (bytes) => fromCsv(textOf(bytes)),
  'application/pdf': fromPdf,
};

/** @throws UnreadableDocument with the reason */
export async function extract(bytes: Uint8Array, mimeType: string): Promise<Chunk[]> {
  const chunks = chunksOf(await sectionsOf(bytes, mimeType));
  if (chunks.length === 0) throw new UnreadableDocument('the document contains no text');
  if (chunks.length > extractionLimits.chunks)
    throw new UnreadableDocument(`the document has more than ${extractionLimits.chunks} sections`);
  return chunks;
}

/**
 * Returns the whole text of a document, with an empty line between pages. @throws UnreadableDocument with the reason
 */
export async function extractText(bytes: Uint8Array, mimeType: string): Promise<string> {
  const text = (await sectionsOf(bytes, mimeType))
    .map((section) => section.text.trim())
    .join('\n\n')
    .trim();
  if (text === '') throw new UnreadableDocument('the document contains no text');
  return text;
}

async function sectionsOf(bytes: Uint8Array, mimeType: string): Promise<Section[]> {
  const reader = readers[mimeType];
  if (!reader) throw new UnreadableDocument(`documents of the type ${mimeType} cannot be read`);
  const sections = await reader(bytes);
  refuseBeyond(sections.reduce((sum, { text }) => sum + text.length, 0));
  return sections.map((section) => ({ ...section, text: cleaned(section.text) }));
}

function refuseBeyond(characters: number): void {
  if (characters > extractionLimits.characters)
    throw new UnreadableDocument(`the text is longer than ${extractionLimits.characters} characters`);
}

function textOf(bytes: Uint8Array): string {
  try {
    return decodeText(bytes);
  } catch {
    throw new UnreadableDocument('the document is not text in UTF-8 or UTF-16');
  }
}

/** Splits Markdown at its headings. Each section has the path of its headings. Ignores headings in code blocks. */
function byHeadings(text: string): Section[] {
  const sections: Section[] = [];
  const path: string[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const close = () => {
    const heading = path.filter(Boolean).join(' › ');
    sections.push({
      heading: heading === '' ? null : heading.slice(0, 300),
      page: null,
      text: lines.join('\n'),
      overlap: true,
    });
    lines = [];
  };
  for (const line of text.split(/\r?\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark && (fence === null || mark.startsWith(fence))) fence = fence === null ? mark : null;
    const [, level, title] = fence === null ? (/^ {0,3}(#{1,6})\s+(?!\s)(.*)$/s.exec(line) ?? []) : [];
    if (level === undefined || title === undefined) {
      lines.push(line);
      continue;
    }
    close();
    path.length = Math.min(path.length, level.length - 1);
    const shown = title
      .trimEnd()
      .replace(/(?<!#)#+$/, '')
      .trimEnd();
    path[level.length - 1] = shown;
    lines.push(shown, '');
  }
  close();
  return sections;
}

const heading: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addLiteral(`${'#'.repeat(Number(element.name?.slice(1)) || 1)} `);
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 2 });
};

/** The parsers' time grows with the product of the number of elements and their depth. */
function refuseDeepHtml(html: string): void {
  let open = 0;
  const parser = new Parser({
    onopentag() {
      open += 1;
      if (open > extractionLimits.openElements)
        throw new UnreadableDocument(`the HTML nests more than ${extractionLimits.openElements} elements`);
    },
    onclosetag() {
      open -= 1;
    },
  });
  parser.end(html);
}

/** Converts HTML to the visible text, with headings in Markdown. */
function fromHtml(html: string): string {
  refuseBeyond(html.length);
  refuseDeepHtml(html);
  return convert(html, {
    wordwrap: false,
    formatters: { heading },
    limits: { maxDepth: extractionLimits.htmlDepth, maxInputLength: extractionLimits.characters },
    selectors: [
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading' })),
      ...['script', 'style', 'noscript', 'template', 'img', 'svg', 'iframe', 'head'].map((selector) => ({
        selector,
        format: 'skip',
      })),
      { selector: 'a', options: { ignoreHref: true } },
    ],
  });
}

/** Converts each row to lines of column and value, so that each chunk contains the column names of its values. */
function fromCsv(text: string): Section[] {
  const rows = rowsOf(text);
  const [columns = [], ...records] = rows;
  if (records.length === 0) return [{ heading: null, page: null, text: columns.join(', '), overlap: false }];
  const paragraphs = records.map((record) =>
    record
      .map((value, at) => (value === '' ? '' : `${columns[at] || `column ${at + 1}`}: ${value}`))
      .filter(Boolean)
      .join('\n'),
  );
  return [{ heading: null, page: null, text: paragraphs.filter(Boolean).join('\n\n'), overlap: false }];
}

function rowsOf(text: string): string[][] {
  try {
    return parse(text, {
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      delimiter: [',', ';', '\t'],
    });
  } catch (error) {
    throw new UnreadableDocument(`the CSV cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
}

async function fromPdf(bytes: Uint8Array): Promise<Section[]> {
  const { extractText: textOfPages, getDocumentProxy } = await import('unpdf');
  try {
    const document = await getDocumentProxy(bytes, { verbosity: 0, isEvalSupported: false });
    if (document.numPages > extractionLimits.pages)
      throw new UnreadableDocument(`the PDF has more than ${extractionLimits.pages} pages`);
    const { text } = await textOfPages(document, { mergePages: false });
    return text.map((page, at) => ({ heading: null, page: at + 1, text: page, overlap: true }));
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    throw new UnreadableDocument(`the PDF cannot be read: ${error instanceof Error ? error.message : 'it is damaged'}`);
  }
}

/** Replaces characters that names and properties cannot contain. */
function cleaned(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000B-\u001F\u007F]/g, ' ')
    .toWellFormed();
}
