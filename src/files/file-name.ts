const longest = 255;
/** Controls, and what turns the reading direction or hides letters, so that a name shows what it is. */
const deceiving = /[\p{Cc}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF\p{Surrogate}]/gu;

/** What remains of a sender's file name: its last path part in NFC, of at most 255 bytes in UTF-8, its extension kept. */
export function safeFileName(given: string): string {
  const parts = given.normalize('NFC').replace(deceiving, '').split(/[/\\]/);
  const named = parts.map((part) => part.trim().replace(/(?<![. ])[. ]+$/, '')).filter((part) => part !== '');
  return shortened(named.at(-1) ?? 'unnamed');
}

/** The extension in lower case without its dot; empty where there is none. */
export function extensionOf(name: string): string {
  return /[^.]\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** As a download, never shown in place (RFC 6266), with the name in ASCII and in UTF-8 (RFC 8187). */
export function attachment(name: string): string {
  const ascii = name.normalize('NFKD').replace(/[^\x20-\x7e]/g, '').replace(/["\\%]/g, '_') || 'file';
  const utf8 = encodeURIComponent(name).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${utf8}`;
}

function shortened(name: string): string {
  if (Buffer.byteLength(name) <= longest) return name;
  const extension = extensionOf(name);
  const tail = extension === '' ? '' : `.${extension}`;
  let head = '';
  for (const character of name) {
    if (Buffer.byteLength(head + character) + tail.length > longest) break;
    head += character;
  }
  return head + tail;
}
