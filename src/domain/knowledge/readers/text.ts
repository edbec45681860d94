import { decodeText, expectedEncodings } from '../../../base/encodings.js';
import type { Section } from '../chunks.js';
import { UnreadableDocument } from '../limits.js';

/** @throws UnreadableDocument for bytes that are not text */
export async function textOf(bytes: Uint8Array): Promise<string> {
  const decoded = await decodeText(bytes);
  if (decoded) return decoded.text;
  throw new UnreadableDocument(`the document is not ${expectedEncodings}`);
}

export function fromPlainText(text: string): Section[] {
  return [{ heading: null, page: null, text, overlap: true }];
}

/** Splits Markdown at its headings. Each section has the path of its headings. Ignores headings in code blocks. */
export function fromMarkdown(text: string): Section[] {
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
