/** The encoding by the byte order mark. Without one, it is UTF-8. */
export function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/**
 * Decodes UTF-8, or UTF-16 with a byte order mark. The end of the bytes may cut a character if they are not the whole text.
 * @throws TypeError if the bytes are not text in this encoding
 */
export function decodeText(bytes: Uint8Array, isWhole = true): string {
  return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes, { stream: !isWhole });
}
