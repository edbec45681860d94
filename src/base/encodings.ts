/** A text and the label of its encoding (Encoding Standard). */
export interface DecodedText {
  text: string;
  charset: string;
}

interface DecodeOptions {
  /** The charset that a header names. It is used if the bytes are valid in it. */
  charset?: string | undefined;
  /** False if the bytes are only the start of the text, and may end within a character. */
  isWhole?: boolean;
  /** Whether the bytes may be HTML or XML, which can name their encoding themselves. */
  canNameCharset?: boolean;
}

/** For error messages: what {@link decodeText} accepts. */
export const expectedEncodings = 'text in UTF-8, UTF-16 or another encoding of the web';

/** The detector's names of the encodings that TextDecoder knows, and their labels. */
const detectable: Record<string, string> = {
  ...{ 'windows-1250': 'windows-1250', 'windows-1251': 'windows-1251', 'windows-1252': 'windows-1252' },
  ...{ 'windows-1253': 'windows-1253', 'windows-1254': 'windows-1254', 'windows-1255': 'windows-1255' },
  ...{ 'windows-1256': 'windows-1256', 'windows-1257': 'windows-1257', cp1258: 'windows-1258' },
  ...{ 'iso-8859-2': 'iso-8859-2', 'iso-8859-5': 'iso-8859-5', 'koi8-r': 'koi8-r', 'koi8-u': 'koi8-u' },
  ...{
    'iso-8859-6': 'iso-8859-6',
    ibm866: 'ibm866',
    cp874: 'windows-874',
    cp932: 'shift_jis',
    'euc-jp': 'euc-jp',
    'iso-2022-jp': 'iso-2022-jp',
  },
  ...{ gb18030: 'gb18030', big5: 'big5', cp949: 'euc-kr', 'utf-16-le': 'utf-16le', 'utf-16-be': 'utf-16be' },
};
const ofSeveralBytes = new Set([
  'cp932',
  'euc-jp',
  'iso-2022-jp',
  'gb18030',
  'big5',
  'cp949',
  'utf-16-le',
  'utf-16-be',
]);
const latin = ['windows-1252', 'windows-1250', 'iso-8859-2', 'windows-1254', 'windows-1257', 'windows-1258'];
/** Western text is by far the most frequent. Another Latin encoding must be this much more likely. */
const westernAdvantage = 1.6;
/** The bytes of letters of other Latin encodings, such as ą and ş, are symbols of windows-1252. */
const symbolInWord = /\p{L}[¡-©«¬®-¶¸¹»-¿]\p{Ll}|\p{Ll}[ªº]\p{Ll}/u;
/** The old default of text (Encoding Standard). */
const fallback = 'windows-1252';
const inspectedBytes = 64 * 1024;

/** Where HTML and XML name their encoding. */
const namedInside =
  /<meta[^>]{0,200}?charset ?=[ "']{0,3}([\w:.-]{1,40})|^\s{0,50}<\?xml[^>]{0,200}?encoding ?=[ "']{0,3}([\w:.-]{1,40})/i;
const searchedBytes = 1024;

/**
 * Decodes text as the sender declares it: by its byte order mark, in the charset that a header names, in UTF-8, or in
 * the charset that HTML or XML names inside. Returns undefined for bytes that are none of these.
 */
export function decodeDeclared(bytes: Uint8Array, options: DecodeOptions = {}): DecodedText | undefined {
  const { charset, isWhole = true, canNameCharset = true } = options;
  const wide = decodedUtf32(bytes);
  if (wide) return wide;
  const marked = encodingOfMark(bytes);
  if (marked !== undefined) return decodedAs(marked, bytes, isWhole);
  const labels = [charset, 'utf-8'];
  for (const label of labels) {
    const decoded = decodedAs(label, bytes, isWhole);
    if (decoded) return decoded;
  }
  return canNameCharset ? decodedAs(charsetInside(bytes), bytes, isWhole) : undefined;
}

/**
 * Decodes text in any encoding of the web: as declared, or in the most likely encoding. Returns undefined for bytes that
 * are not text.
 */
export async function decodeText(bytes: Uint8Array, options: DecodeOptions = {}): Promise<DecodedText | undefined> {
  const declared = decodeDeclared(bytes, options);
  if (!declared && encodingOfMark(bytes) !== undefined) return undefined;
  const isUnicode = declared?.charset.startsWith('utf-') ?? false;
  if (declared && !(isUnicode && mayBeOther(bytes, declared.text))) return isText(declared.text) ? declared : undefined;
  for (const label of [await likelyEncoding(bytes), fallback]) {
    const likely = decodedAs(label, bytes, options.isWhole ?? true);
    if (likely && isText(likely.text) && isReadable(likely)) return likely;
  }
  return declared && isText(declared.text) ? declared : undefined;
}

/** UTF-16 without a byte order mark and ISO-2022-JP are also valid UTF-8, with control characters. */
function mayBeOther(bytes: Uint8Array, text: string): boolean {
  return encodingOfMark(bytes) === undefined && (text.includes('\0') || /\x1B\$[@B]/.test(text));
}

/** The encoding by the byte order mark. */
export function encodingOfMark([first, second, third]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

/** TextDecoder does not know UTF-32. Only text with a byte order mark is read. An incomplete last character is left out. */
function decodedUtf32(bytes: Uint8Array): DecodedText | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 4) return undefined;
  const isLittle = view.getUint32(0, true) === 0xfeff;
  if (!isLittle && view.getUint32(0) !== 0xfeff) return undefined;
  let text = '';
  for (let at = 4; at + 4 <= bytes.length; at += 4) {
    const code = view.getUint32(at, isLittle);
    if (code > 0x10ffff || code === 0) return undefined;
    text += String.fromCodePoint(code);
  }
  return { text, charset: isLittle ? 'utf-32le' : 'utf-32be' };
}

/** Removes control characters except line ends and tabs, and the escape sequences of terminals (ECMA-48). */
export function withoutControls(text: string): string {
  return text
    .replace(/\r\n?|[\v\f]/g, '\n')
    .replace(/\x1B(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1B\n]{0,2000}(?:\x07|\x1B\\)|[ -/]{0,4}[0-~])?/g, '')
    .replace(/[\u0000-\u0008\u000E-\u001F\u007F]/g, '');
}

/** The charset that a content type names. */
export function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*["']?([^"';\s]{1,40})/i.exec(contentType)?.[1];
}

function decodedAs(label: string | undefined, bytes: Uint8Array, isWhole: boolean): DecodedText | undefined {
  if (label === undefined) return undefined;
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    const text = decoder.decode(bytes, { stream: !isWhole });
    return { text: decoder.encoding === 'windows-1252' ? asWindows1252(text) : text, charset: decoder.encoding };
  } catch {
    // A TypeError for bytes of another charset, and a RangeError for a charset that does not exist.
    return undefined;
  }
}

const windows1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8DŽ\x8F\x90‘’“”•–—˜™š›œ\x9DžŸ';

/** Some releases of Node.js decode windows-1252 as ISO-8859-1 (nodejs/node#56542). */
function asWindows1252(text: string): string {
  return text.replace(/[\x80-\x9F]/g, (character) => windows1252[character.charCodeAt(0) - 0x80] as string);
}

/** The bytes of a text of windows-1252; undefined for a text with other characters. */
export function bytesOfWestern(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const special = code < 0x80 || (code >= 0xa0 && code <= 0xff) ? -1 : windows1252.indexOf(text.charAt(at));
    if (special === -1 && code > 0xff) return undefined;
    bytes[at] = special === -1 ? code : 0x80 + special;
  }
  return bytes;
}

/** Whether one, or at most a tenth, are control characters. Other formats contain more. */
function isText(text: string): boolean {
  const controls = text.match(/[\u0000-\u0008\u000E-\u001A\u001C-\u001F]/g)?.length ?? 0;
  return controls === 0 || (controls < text.length && controls <= Math.max(1, text.length / 10));
}

/** Whether a text in a guessed encoding consists of letters, digits and what stands between them. */
function isReadable({ text, charset }: DecodedText): boolean {
  // Any pair of bytes is a character of UTF-16, but only text contains spaces, line ends or digits.
  if (charset.startsWith('utf-16') && (text.match(/[\n\x20-\x7E]/g)?.length ?? 0) < text.length / 50) return false;
  const others = text.match(/[^\p{L}\p{M}\p{N}\s\x20-\x7E–—‘’“”„…«»€£§°·、。「」]/gu)?.length ?? 0;
  const controls = text.match(/[\u0000-\u0008\u000E-\u001A\u001C-\u001F\x80-\x9F]/g)?.length ?? 0;
  return others <= Math.max(1, text.length / 5) && controls <= text.length / 100;
}

function charsetInside(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, searchedBytes));
  const [, inHtml, inXml] = namedInside.exec(start) ?? [];
  const named = inHtml ?? inXml;
  // A declaration that can be read byte by byte is not in UTF-16.
  return named !== undefined && /^utf-?16|^ucs-?2|^unicode/i.test(named) ? undefined : named;
}

/** The detector is large, so it is loaded when a text needs it. */
async function likelyEncoding(bytes: Uint8Array): Promise<string | undefined> {
  const { detectAll } = await import('jschardet');
  const start = bytes.subarray(0, inspectedBytes);
  const candidates = detectAll(start, { detectEncodings: Object.keys(detectable), minimumThreshold: 0 });
  const [best] = candidates;
  if (!best) return undefined;
  if (nameOf(best) === 'windows-1253' && isGreekOfIso(start)) return 'iso-8859-7';
  if (ofSeveralBytes.has(nameOf(best)) || !isLatin(start)) return detectable[nameOf(best)];
  const [likely, ...others] = candidates.filter((each) => latin.includes(nameOf(each)));
  const western = others.find((each) => nameOf(each) === 'windows-1252');
  const isWestern = !symbolInWord.test(decodedAs(fallback, start, false)?.text ?? '');
  if (!isWestern && likely && nameOf(likely) === 'windows-1252') return others[0] && detectable[nameOf(others[0])];
  const isLikelier = western && likely && western.confidence * westernAdvantage >= likely.confidence;
  const chosen = isWestern && isLikelier ? western : likely;
  return chosen && detectable[nameOf(chosen)];
}

/** The byte of Ά in ISO-8859-7 is a pilcrow in windows-1253. The other letters are alike, so the detector cannot tell. */
function isGreekOfIso(bytes: Uint8Array): boolean {
  return bytes.some((byte, at) => byte === 0xb6 && (bytes[at + 1] ?? 0) > 0xc0);
}

function nameOf({ encoding }: { encoding: string | null }): string {
  return encoding?.toLowerCase() ?? '';
}

/** Whether most bytes beyond ASCII are single ones beside ASCII letters, as accented letters are in Latin scripts. */
function isLatin(bytes: Uint8Array): boolean {
  const isLetter = (byte = 0) => (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
  let [high, beside] = [0, 0];
  for (const [at, byte] of bytes.entries()) {
    if (byte < 0x80) continue;
    high += 1;
    // The bytes below are punctuation in Latin encodings, and begin characters of others.
    if (byte >= 0xa0 && (isLetter(bytes[at - 1]) || isLetter(bytes[at + 1]))) beside += 1;
  }
  return beside > high / 2;
}
