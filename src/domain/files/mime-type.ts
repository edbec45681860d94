import { fileTypeFromBuffer } from 'file-type';
// Loads the detector of encodings when the process starts: at the first upload it would stop all requests for 100 ms.
import 'jschardet';
import { decodeText, encodingOfMark } from '../../base/encodings.js';
import { parseJsonOrUndefined } from '../../base/json.js';
import { extensionOf } from './file-name.js';

/** The number of bytes at the start of a file that are inspected. */
export const sniffedBytes = 64 * 1024;

/** Text formats by extension, because their content is ambiguous. */
const textTypes: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  tab: 'text/tab-separated-values',
  md: 'text/markdown',
  markdown: 'text/markdown',
  json: 'application/json',
  jsonl: 'application/json',
  ndjson: 'application/json',
  txt: 'text/plain',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  eml: 'message/rfc822',
  xml: 'application/xml',
  rss: 'application/xml',
  atom: 'application/xml',
};

/** ZIP files whose start does not show their format, because other entries come first. */
const zipTypes: Record<string, string> = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  epub: 'application/epub+zip',
};

/** Tags by which browsers recognize HTML (WHATWG MIME Sniffing, 7.1). */
const htmlTag = /<(!doctype html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p)[\s>/]/iy;
const svgTag = /<svg[\s>/]/iy;
const xmlDeclaration = /<\?xml[^>]*>/iy;
const svgDoctype = /<!doctype svg[^>]*>/iy;
const htmlDoctype = /<!doctype html[^>]*>/iy;
const xhtmlTag = /<html[\s>]/iy;
/** A mail begins with a header field (RFC 5322), or with the line that mailboxes put before it (RFC 4155). */
const mailHeader = /^\s{0,10}(?:>?From .{0,1000}\r?\n)?[\w-]{1,76}[ \t]{0,10}:/;
const xmlElement = /<[A-Za-z_][\w.:-]{0,200}[\s>/]|<\?|<!DOCTYPE\s/iy;
const binary = 'application/octet-stream';

export interface DetectedType {
  mimeType: string;
  /** The encoding of text. Null for other formats, and if the start of a text does not show it. */
  charset: string | null;
}

/** Detects the type from the content. `head` is the start of the file; `whole` is true if it is the entire file. */
export async function typeOf(head: Buffer, whole: boolean, name: string): Promise<DetectedType> {
  const known = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime;
  // The library takes the byte order mark of UTF-16 for MP3, and SVG with a declaration for other XML.
  const isCertain =
    known !== 'application/xml' && (known !== 'audio/mpeg' || !encodingOfMark(head)?.startsWith('utf-16'));
  if (known === 'application/zip') return { mimeType: zipTypes[extensionOf(name)] ?? known, charset: null };
  if (known !== undefined && isCertain) return { mimeType: known, charset: null };
  const decoded = await decodeText(head, { isWhole: whole });
  if (!decoded) return { mimeType: isPdf(head) ? 'application/pdf' : (known ?? binary), charset: null };
  const mimeType = typeOfText(decoded.text, whole, name);
  if (isPdf(head) && extensionOf(name) === 'pdf') return { mimeType: 'application/pdf', charset: null };
  // The rest of a long file can contain what its start in ASCII does not.
  const isKnown = whole || decoded.charset !== 'utf-8' || head.some((byte) => byte >= 0x80);
  return { mimeType, charset: isKnown ? decoded.charset : null };
}

/** The value of `Content-Type` for a file. */
export function contentTypeOf({ mime_type, charset }: { mime_type: string; charset: string | null }): string {
  return charset ? `${mime_type}; charset=${charset}` : mime_type;
}

function typeOfText(text: string, whole: boolean, name: string): string {
  if (isSvg(text)) return 'image/svg+xml';
  const xml = afterXmlDeclaration(text);
  if (xml !== undefined) return isXhtml(text, xml) ? 'application/xhtml+xml' : 'application/xml';
  if (isHtml(text)) return 'text/html';
  const type = textTypes[extensionOf(name)];
  if (type === 'application/json') return looksLikeJson(text, whole) ? type : 'text/plain';
  if (type === 'message/rfc822') return mailHeader.test(text) ? type : 'text/plain';
  if (type === 'application/xml') return startsAt(text, xmlElement, skipComments(text, 0)) ? type : 'text/plain';
  return (
    type ??
    (whole && /^\s*[[{]/.test(text) && parseJsonOrUndefined(text) !== undefined ? 'application/json' : 'text/plain')
  );
}

/** A PDF may begin after up to 1,024 other bytes, as Adobe Acrobat accepts it. */
function isPdf(head: Buffer): boolean {
  return /(?:^|[\r\n\0\x80-\xff])[ \t]*%PDF-[12]\.\d\s/.test(
    head.subarray(0, 1024 + '%PDF-1.7\n'.length).toString('latin1'),
  );
}

/** The position after an XML declaration; undefined without one. */
function afterXmlDeclaration(text: string): number | undefined {
  const start = skipSpaces(text, 0);
  const end = endOf(text, xmlDeclaration, start);
  return end === start ? undefined : end;
}

function isXhtml(text: string, from: number): boolean {
  return startsAt(text, xhtmlTag, skipComments(text, endOf(text, htmlDoctype, skipComments(text, from))));
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

function looksLikeJson(text: string, whole: boolean): boolean {
  return whole ? parseJsonOrUndefined(text) !== undefined || isJsonLines(text) : /^\s*[[{"]/.test(text);
}

/** Whether each line is an object or a list (JSON Lines). */
function isJsonLines(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.length > 0 && lines.every((line) => /^\s*[[{]/.test(line) && parseJsonOrUndefined(line) !== undefined);
}
