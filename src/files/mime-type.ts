import { fileTypeFromBuffer } from 'file-type';
import { extensionOf } from './file-name.js';

/** How much of a file's beginning is looked at, in bytes. */
export const sniffedBytes = 64 * 1024;

/** Kinds of text that their bytes do not tell apart: here the name has a say. */
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

/** Tags by which a browser takes a text for HTML (WHATWG MIME Sniffing, 7.1), behind comments of which none holds another's end. */
const html = /^\s*(<!--(?:(?!-->)[\s\S])*-->\s*)*<(!doctype html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|svg)[\s>/]/i;
const binary = 'application/octet-stream';

/** What the bytes are, whatever the sender says. `head` is the beginning of the file, `whole` whether it is all of it. */
export async function mimeTypeOf(head: Buffer, whole: boolean, name: string): Promise<string> {
  const known = await fileTypeFromBuffer(head).catch(() => undefined);
  if (known) return known.mime;
  const text = textOf(head, whole);
  if (text === undefined) return binary;
  if (html.test(text)) return 'text/html';
  const type = textTypes[extensionOf(name)];
  if (type === 'application/json') return looksLikeJson(text, whole) ? type : 'text/plain';
  return type ?? (whole && /^\s*[[{]/.test(text) && isJson(text) ? 'application/json' : 'text/plain');
}

/** Undefined for what is no UTF-8, or holds control characters that no text has. */
function textOf(head: Buffer, whole: boolean): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !whole });
    return /[\u0000-\u0008\u000E-\u001A\u001C-\u001F]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function looksLikeJson(text: string, whole: boolean): boolean {
  return whole ? isJson(text) : /^\s*[[{"]/.test(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
