import { fileTypeFromBuffer } from 'file-type';
import { decodeText, encodingOf } from '../../decode-text.js';
import { parseJsonOrUndefined } from '../../json.js';
import { extensionOf } from './file-name.js';

/** The number of bytes at the start of a file that are inspected. */
export const sniffedBytes = 64 * 1024;

/** Text formats by extension, because their content is ambiguous. */
const textTypes: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  md: 'text/markdown',
  markdown: 'text/markdown',
  json: 'application/json',
  txt: 'text/plain',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};

/** Tags by which browsers recognize HTML (WHATWG MIME Sniffing, 7.1). */
const htmlTag = /<(!doctype html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p)[\s>/]/iy;
const svgTag = /<svg[\s>/]/iy;
const xmlDeclaration = /<\?xml[^>]*>/iy;
const svgDoctype = /<!doctype svg[^>]*>/iy;
const binary = 'application/octet-stream';

/** Detects the type from the content. `head` is the start of the file; `whole` is true if it is the entire file. */
export async function mimeTypeOf(head: Buffer, whole: boolean, name: string): Promise<string> {
  const known = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime;
  // The library takes the byte order mark of UTF-16 for MP3, and SVG with a declaration for other XML.
  const isCertain = known !== 'application/xml' && (known !== 'audio/mpeg' || encodingOf(head) === 'utf-8');
  if (known !== undefined && isCertain) return known;
  const text = textOf(head, whole);
  if (text !== undefined && isSvg(text)) return 'image/svg+xml';
  if (text === undefined || known === 'application/xml') return known ?? binary;
  if (isHtml(text)) return 'text/html';
  const type = textTypes[extensionOf(name)];
  if (type === 'application/json') return looksLikeJson(text, whole) ? type : 'text/plain';
  return (
    type ??
    (whole && /^\s*[[{]/.test(text) && parseJsonOrUndefined(text) !== undefined ? 'application/json' : 'text/plain')
  );
}

/** Returns whether the first tag after comments is one of HTML. */
function isHtml(text: string): boolean {
  return startsAt(text, htmlTag, skipComments(text, 0));
}

/** Returns whether the root element is that of SVG, after an optional declaration, comments and document type. */
function isSvg(text: string): boolean {
  const start = skipComments(text, endOf(text, xmlDeclaration, skipSpaces(text, 0)));
  return startsAt(text, svgTag, skipComments(text, endOf(text, svgDoctype, start)));
}

/** Returns the position after white space and comments. Takes time linear in the length of the text. */
function skipComments(text: string, from: number): number {
  let at = skipSpaces(text, from);
  while (text.startsWith('<!--', at)) {
    const end = text.indexOf('-->', at + '<!--'.length);
    if (end === -1) return text.length;
    at = skipSpaces(text, end + '-->'.length);
  }
  return at;
}

function skipSpaces(text: string, from: number): number {
  return endOf(text, /\s*/y, from);
}

function startsAt(text: string, pattern: RegExp, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** Returns the position after the match of a sticky pattern, or `from` if it does not match there. */
function endOf(text: string, pattern: RegExp, from: number): number {
  return startsAt(text, pattern, from) ? pattern.lastIndex : from;
}

/** Undefined if the bytes are not text or contain binary control characters. */
function textOf(head: Buffer, whole: boolean): string | undefined {
  try {
    const text = decodeText(head, whole);
    return /[\u0000-\u0008\u000E-\u001A\u001C-\u001F]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function looksLikeJson(text: string, whole: boolean): boolean {
  return whole ? parseJsonOrUndefined(text) !== undefined : /^\s*[[{"]/.test(text);
}
