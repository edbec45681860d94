const maxNameBytes = 255;
/** Control characters, and characters that are invisible or change the text direction, which can disguise a name. */
const unsafeCharacters = /[\p{Cc}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF\p{Surrogate}]/gu;

/** Sanitizes a file name: its last path segment in NFC, shortened to 255 bytes of UTF-8 with its extension preserved. */
export function safeFileName(name: string): string {
  const parts = name.normalize('NFC').replace(unsafeCharacters, '').split(/[/\\]/);
  const named = parts.map((part) => part.trim().replace(/(?<![. ])[. ]+$/, '')).filter((part) => part !== '');
  return shortened(named.at(-1) ?? 'unnamed');
}

/** The extension in lower case without the dot, or an empty string. */
export function extensionOf(name: string): string {
  return /[^.]\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** A `Content-Disposition` value for downloads (RFC 6266), with the name in ASCII and UTF-8 (RFC 8187). */
export function attachment(name: string): string {
  const ascii =
    name
      .normalize('NFKD')
      .replace(/[^\x20-\x7e]/g, '')
      .replace(/["\\%]/g, '_') || 'file';
  const utf8 = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${utf8}`;
}

function shortened(name: string): string {
  if (Buffer.byteLength(name) <= maxNameBytes) return name;
  const extension = extensionOf(name);
  const tail = extension === '' ? '' : `.${extension}`;
  let head = '';
  for (const character of name) {
    if (Buffer.byteLength(head + character) + tail.length > maxNameBytes) break;
    head += character;
  }
  return head + tail;
}
