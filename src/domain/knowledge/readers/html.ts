import { convert, type FormatCallback } from 'html-to-text';
import { Parser } from 'htmlparser2';
import type { Section } from '../chunks.js';
import { extractionLimits, refuseBeyond, UnreadableDocument } from '../limits.js';
import { fromMarkdown } from './text.js';

/** Reads HTML by its headings. @throws UnreadableDocument */
export function fromHtml(html: string): Section[] {
  return fromMarkdown(markdownOf(html));
}

const heading: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addLiteral(`${'#'.repeat(Number(element.name?.slice(1)) || 1)} `);
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 2 });
};

const isCell = ({ name }: { name?: string }) => name === 'td' || name === 'th';

function hasText({ data, children = [] }: { data?: string; children?: unknown[] }): boolean {
  return (data ?? '').trim() !== '' || children.some((child) => hasText(child as { data?: string }));
}

/** Writes the cells of a row in one line. A row without text is left out. */
const row: FormatCallback = (element, walk, builder) => {
  if (!hasText(element)) return;
  builder.openBlock({ leadingLineBreaks: 1 });
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 1 });
};

const cell: FormatCallback = (element, walk, builder) => {
  const cells = element.parent?.children?.filter(isCell);
  if (cells?.[0] !== element) builder.addLiteral(' | ');
  const children = element.children.filter(({ type, data }) => type === 'tag' || data?.trim() !== '');
  const [only] = children;
  const paragraph = children.length === 1 && (only?.name === 'p' || only?.name === 'div') ? only : element;
  walk(paragraph.children, builder);
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
function markdownOf(html: string): string {
  refuseBeyond(html.length);
  refuseDeepHtml(html);
  return convert(html, {
    wordwrap: false,
    formatters: { heading, row, cell },
    limits: { maxDepth: extractionLimits.htmlDepth, maxInputLength: extractionLimits.characters },
    selectors: [
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading' })),
      ...['script', 'style', 'noscript', 'template', 'img', 'svg', 'iframe', 'head'].map((selector) => ({
        selector,
        format: 'skip',
      })),
      { selector: 'tr', format: 'row' },
      ...['td', 'th'].map((selector) => ({ selector, format: 'cell' })),
      { selector: 'a', options: { ignoreHref: true } },
    ],
  });
}
